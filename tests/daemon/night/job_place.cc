#include "tests/daemon/night/job_place.h"

#include <fcntl.h>
#include <sys/inotify.h>

#include <atomic>
#include <thread>

#include "base/files/file.h"
#include "base/files/unique_fd.h"
#include "daemon/night/night_job.h"
#include "daemon/night/night_plan.h"
#include "daemon/spec/job_result.h"
#include "datasets/labels/label_store.h"
#include "datasets/pack/sample_pack.h"

namespace moil::night {
namespace {

namespace fs = std::filesystem;

// Counts what is renamed into a folder.
class Renames {
 public:
  explicit Renames(const fs::path& folder) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    if (!fd_ || ::inotify_add_watch(fd_.get(), folder.c_str(), IN_MOVED_TO) < 0)
      throw system_error("inotify", errno);
  }
  std::map<std::string, int> counts() const {
    std::map<std::string, int> counts;
    alignas(inotify_event) char buffer[1 << 16];
    for (ssize_t n = 0; (n = ::read(fd_.get(), buffer, sizeof buffer)) > 0;) {
      for (const char* at = buffer; at < buffer + n;) {
        const auto* event = reinterpret_cast<const inotify_event*>(at);
        if (event->len > 0) ++counts[event->name];
        at += sizeof *event + event->len;
      }
    }
    return counts;
  }

 private:
  UniqueFd fd_;
};

Json without_times(Json result) {
  result.erase("seconds");
  Json& details = result["details"];
  for (const char* name : {"stages", "train_seconds", "train_cpu_seconds"}) details.erase(name);
  for (const char* name : {"measured_bytes", "baseline_bytes", "training_peak_bytes"})
    details["memory"].erase(name);
  for (const char* pointer : {"/processors", "/processors/feature_maps"}) {
    const Json::json_pointer placement(pointer);
    for (const char* name : {"predicted_seconds", "cpu_seconds"})
      if (details.contains(placement) && details[placement].is_object())
        details[placement].erase(name);
  }
  for (Json& point : details["curve"]) point.erase("seconds");
  return result;
}

Json file_json(const fs::path& file) {
  return fs::exists(file) ? parsed_json(read_text(file)) : Json(nullptr);
}

}  // namespace

JobPlace::JobPlace(std::size_t labelled, const ModelBundle& bundle)
    : JobPlace(bundle, NumberImages(bundle.labels, 8), NumberImages({"new", "c"}, labelled, 1000)) {
}

JobPlace::JobPlace(const ModelBundle& bundle, const data::SampleDataset& pack,
                   const data::SampleDataset& mine)
    : layout_(folder_ / "state") {
  fs::create_directories(layout_.model("small"));
  write_model_folder(layout_.version("small", 1), bundle);
  data::write_sample_pack(folder_ / "pack", pack, bundle.kind);
  data::LabelStore labels(layout_.labels(), data::LabelStore::Access::kReadWrite);
  for (std::size_t i = 0; i < mine.size(); ++i)
    add_looked_at(labels, mine.encoded(i), mine.classes()[mine.labels(i)[0]], mine.split(i));
}

Json JobPlace::description() const {
  return {{"name", "field"},
          {"model", "small"},
          {"settings", "defaults"},
          {"global", {{"pack", (folder_ / "pack").string()}, {"alpha", 0.5}}},
          {"train", {{"epochs", 2}, {"batch", 8}, {"optimizer", {{"learning_rate", 0.05}}}}},
          {"guard", {{"max_global_drop", 1}}}};
}

Json JobPlace::open_description() const {
  return {{"name", "field"},
          {"model", "small"},
          {"global", {{"pack", (folder_ / "pack").string()}}},
          {"guard", {{"max_global_drop", 1}}}};
}

daemon::JobFile JobPlace::job_file(const daemon::JobSpec& spec, std::int64_t id) const {
  daemon::JobFile file;
  file.id = id;
  file.base_version = 1;
  file.version = 1 + id;
  file.threads = spec.threads.value_or(2);
  file.spec = spec;
  return file;
}

daemon::JobSpec JobPlace::submitted(const Json& description) const {
  daemon::JobSpec spec = daemon::job_spec_from_json(description);
  (void)plan_job(layout_, job_file(spec, next_), {.check = true});
  return spec;
}

daemon::JobSpec JobPlace::head_alone(const Json& more) const {
  Json changed = description();
  changed.merge_patch({{"freeze", {{"trainable_layers", 1}}}, {"threads", 1}});
  changed.merge_patch(more);
  return submitted(changed);
}

JobTrace JobPlace::run(const daemon::JobSpec& spec, std::int64_t base, std::int64_t anchor) {
  daemon::JobFile file = job_file(spec, next_++);
  file.base_version = base;
  file.anchor_version = anchor;
  const fs::path folder = layout_.job(file.id);
  fs::create_directories(folder);
  fs::remove_all(layout_.cache());
  const Renames renames(folder);
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  daemon::EventWriter events(nowhere.get());
  const std::atomic<bool> stop{false};
  if (!run_night(layout_, file, events, stop))
    throw Error(ErrorCode::kCancelled, "the night was stopped");
  JobTrace trace;
  trace.result =
      without_times(daemon::finished_result(layout_, file.id, spec.model, file.version).value());
  const fs::path weights = layout_.version(spec.model, file.version) / "weights.safetensors";
  if (fs::exists(weights)) trace.weights = read_text(weights);
  trace.samples = file_json(folder / "mix.json");
  trace.choices = file_json(folder / "choices.json");
  trace.written = renames.counts();
  trace.cached_bytes = trace.result["details"].contains("cache")
                           ? trace.result["details"]["cache"]["feature_bytes"].get<std::size_t>()
                           : 0;
  return trace;
}

bool JobPlace::attempt(const daemon::JobFile& file, bool stops) const {
  fs::create_directories(layout_.job(file.id));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("pipe2", errno);
  const UniqueFd told(ends[0]);
  UniqueFd tells(ends[1]);
  std::atomic<bool> stop = false;
  std::thread watcher([&] {
    std::string text;
    char some[4096];
    for (ssize_t n = 0; (n = ::read(told.get(), some, sizeof some)) > 0;) {
      text.append(some, static_cast<std::size_t>(n));
      if (stops && text.find("\"train\"") != std::string::npos) stop = true;
    }
  });
  daemon::EventWriter events(tells.get());
  const bool ended = run_night(layout_, file, events, stop);
  tells.reset();
  watcher.join();
  return ended;
}

}  // namespace moil::night
