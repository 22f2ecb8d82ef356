// A worker that computes nothing: it counts to ten in each of two stages, keeps its place in a
// file as a real one keeps checkpoints, and misbehaves as the job's name asks:
//
//   night        does its job           slow        the same, until it is stopped or killed
//   reject       kept back by the guard crash       kills itself in every attempt
//   crash-once   kills itself once      bad-data    reports an error that is final
//   crash-thrice kills itself in each of its first three attempts
//   segfault     crashes once
//   garbage      writes lines that are no events    deaf   ignores SIGTERM
//   no-folder    reports a version it did not write
//   no-room      finds the disk full while it trains, until there is a file "go"
//   elastic      tells of elastic training in its result
//   long         the same, of 400 intervals, in a result of some MiB
//   wordy        writes lines that are too long, and does its job
//   grumbles     writes a line to stderr, and does its job
//   dies-done    kills itself when its result and version are there
//   unfit        cannot be planned: a budget is too small
//   no-plan      dies when it is planned
//   endless-plan its plan does not end
//   no-device    finds no second processor when it is planned with one
//
// A test may put into the state folder: "mix.json", the samples that jobs note as theirs, and
// "says", what bad-data complains of.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "base/files/file.h"
#include "base/files/write_all.h"
#include "daemon/spec/job_result.h"
#include "daemon/spec/pack_told.h"
#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

volatile sig_atomic_t stop_asked = 0;

void on_term(int) { stop_asked = 1; }

std::map<std::string, std::string> options(int argc, char** argv) {
  std::map<std::string, std::string> out;
  for (int i = 2; i < argc; i += 2) out[argv[i]] = i + 1 < argc ? argv[i + 1] : "";
  return out;
}

// Written aside and renamed, as worker_protocol.h asks; there already: nothing to do.
void write_version(const StateLayout& layout, const std::string& model, std::int64_t version,
                   const std::string& content) {
  const fs::path target = layout.version(model, version);
  if (fs::exists(target)) return;
  const fs::path aside = layout.incoming(model, version);
  fs::remove_all(aside);
  fs::create_directories(aside);
  write_file_atomic(aside / "model.json", content);
  rename_durable(aside, target);
}

class Night {
 public:
  Night(const StateLayout& layout, JobFile job)
      : layout_(layout), job_(std::move(job)), place_(layout.job(job_.id) / "place") {}

  int run() {
    const std::string& name = job_.spec.name;
    const int attempts = count("attempts");
    if (name == "garbage") write_line("this is no JSON\n[1,2\n{\"event\":\"unheard-of\"}\n");
    const fs::path mix = layout_.root() / "mix.json", says = layout_.root() / "says";
    if (fs::exists(mix))
      fs::copy_file(mix, layout_.job(job_.id) / "mix.json", fs::copy_options::overwrite_existing);
    if (name == "wordy") write_long_lines();
    if (name == "grumbles") std::fputs("this CPU is not known to me\n", stderr);
    if (name == "bad-data") {
      events_.error(Error(ErrorCode::kBadData,
                          fs::exists(says) ? read_text(says) : "sample 3 is not an image"));
      return kExitBadData;
    }
    if (name == "deaf") ::signal(SIGTERM, SIG_IGN);
    int step = fs::exists(place_) && name != "crash" ? std::stoi(read_text(place_)) : 0;
    const int resumed_from = step;
    for (; step < 20 || endless(); ++step) {
      report(step);
      if (stop_asked != 0) return kExitCheckpointed;
      write_file_atomic(place_, std::to_string(step + 1));
      const bool crashes = name == "crash" || (name == "crash-once" && attempts == 1) ||
                           (name == "crash-thrice" && attempts <= 3);
      if (crashes && step >= 12) ::raise(SIGKILL);
      if (name == "no-room" && step >= 12 && !fs::exists(layout_.root() / "go")) {
        events_.error(Error(ErrorCode::kResourceExhausted, "cannot write a checkpoint: no room"));
        return kExitNoRoom;
      }
      if (name == "segfault" && attempts == 1 && step == 12) {
        ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit of it
        ::raise(SIGSEGV);
      }
      if (endless()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return finish(attempts, resumed_from);
  }

 private:
  // Until the test puts a file "go" into the state folder.
  bool endless() const {
    const bool waits = job_.spec.name == "slow" || job_.spec.name == "deaf";
    return waits && !fs::exists(layout_.root() / "go");
  }

  int count(const std::string& what) {
    const fs::path file = layout_.job(job_.id) / what;
    const int n = (fs::exists(file) ? std::stoi(read_text(file)) : 0) + 1;
    write_file_atomic(file, std::to_string(n));
    return n;
  }

  void report(int step) {
    const bool training = step >= 10;
    Progress progress{.stage = training ? Stage::kTrain : Stage::kMix,
                      .done = step,
                      .total = 20,
                      .epoch = {},
                      .epochs = {},
                      .loss = {},
                      .seconds_left = {}};
    if (training) progress.epoch = 1 + (step - 10) / 5;
    events_.progress(progress);
    if (step == 14 || step == 19) {
      events_.curve(
          {.epoch = *progress.epoch, .seconds = 1, .loss = 0.5, .global = 0.9, .local = {}});
    }
  }

  int finish(int attempts, int resumed_from) {
    const bool promoted = job_.spec.name != "reject";
    Json details = {{"attempts", attempts},
                    {"resumed_from", resumed_from},
                    {"crashed_before", fs::exists(layout_.job_crashed(job_.id))}};
    add_origin(details);
    if (job_.spec.name == "elastic") add_figures(details);
    if (job_.spec.name == "long") add_long_lists(details);
    write_result(layout_, job_.id,
                 JobResult{.promoted = promoted,
                           .reason = promoted ? "global accuracy kept, local accuracy gained"
                                              : "global accuracy lost",
                           .global_before = 0.97,
                           .global_after = promoted ? 0.96 : 0.5,
                           .local_before = 0.1,
                           .local_after = 0.98,
                           .epochs = 2,
                           .seconds = 1.5,
                           .details = std::move(details)});
    const bool promoted_now = promoted && job_.spec.name != "no-folder";
    if (promoted_now) write_version(layout_, job_.spec.model, job_.version, to_json(job_).dump());
    if (job_.spec.name == "dies-done") ::raise(SIGKILL);
    events_.result();
    return kExitDone;
  }

  // What becomes the version's provenance.
  void add_origin(Json& details) const {
    details["build"] = "9.9";
    details["weights"] = "weights of " + std::to_string(job_.version);
    details["data"] = {{"local", {{"samples", 3}, {"held_out", 2}, {"digest", "l"}}},
                       {"global", {{"samples", 8}, {"held_out", 4}, {"digest", "g"}}},
                       {"held_out", "h"}};
    details["labels"] = {{{"label", "seven"},
                          {"global", {{"held_out", 4}, {"before", 4}, {"after", 3}}},
                          {"local", {{"held_out", 2}, {"before", 0}, {"after", 2}}}}};
  }

  // For a network of 200 tensors.
  static void add_long_lists(Json& details) {
    add_figures(details);
    Json& elastic = details["elastic"];
    elastic["tensors"] = elastic["intervals"] = Json::array();
    for (int t = 0; t < 200; ++t)
      elastic["tensors"].push_back("block" + std::to_string(t) + ".kernel");
    for (int epoch = 0; epoch < 400; ++epoch) {
      elastic["intervals"].push_back({{"epoch", epoch},
                                      {"epochs", 1},
                                      {"selected", elastic["tensors"]},
                                      {"importance", std::vector<double>(200, 0.123456789)}});
    }
  }

  void write_long_lines() {
    const std::string text(3 << 20, 'x');
    write_line(("{\"event\":\"note\",\"message\":\"" + text + "\"}\n").c_str());
    events_.note("a note of many words: " + text);
    events_.note("and one of few");
  }

  static void add_figures(Json& details) {
    details["method"] = "elastic";
    details["freeze"] = {{"trained_units", 2}, {"units", 9}};
    details["stages"] = {{"train", 3}, {"mix", 1}};
    details["memory"] = {{"predicted_bytes", 3 << 20}, {"measured_bytes", 2 << 20}};
    details["cache"] = {{"computed", 7}, {"reused", 5}, {"feature_bytes", 4096}};
    details["elastic"] = {{"rho", 0.5},
                          {"tensors", {"conv.kernel", "classifier.kernel"}},
                          {"intervals",
                           {{{"epoch", 0},
                             {"epochs", 2},
                             {"selected", {"classifier.kernel"}},
                             {"importance", {-0.5, 2}},
                             {"predicted_step_seconds", 0.1}}}},
                          {"remark", "little < much"}};
  }

  static void write_line(const char* text) {
    for (std::size_t left = std::strlen(text); left > 0;) {
      const ssize_t n = ::write(STDOUT_FILENO, text, left);
      if (n <= 0) return;
      text += n;
      left -= static_cast<std::size_t>(n);
    }
  }

  const StateLayout layout_;
  const JobFile job_;
  const fs::path place_;
  EventWriter events_{STDOUT_FILENO};
};

int answer(const std::map<std::string, std::string>& given, const Json& reply) {
  write_reply(std::stoi(given.at("--reply")), reply);
  EventWriter(STDOUT_FILENO).result();
  return kExitDone;
}

int import(const StateLayout& layout, const std::map<std::string, std::string>& given) {
  EventWriter events(STDOUT_FILENO);
  const fs::path source = given.at("--source");
  if (!fs::exists(source / "model.json")) {
    events.error(Error(ErrorCode::kBadData, source.string() + " holds no model.json"));
    return kExitBadData;
  }
  if (given.contains("--pack") && !fs::exists(fs::path(given.at("--pack")) / "pack.json")) {
    events.error(Error(ErrorCode::kNotFound, given.at("--pack") + " is no pack"));
    return kExitBadData;
  }
  write_version(layout, given.at("--model"), std::stoll(given.at("--version")),
                read_text(source / "model.json"));
  return answer(given,
                to_json(ImportResult{.summary = "3 layers, 7 labels", .details = {{"layers", 3}}}));
}

// A pack of nothing, under the name.
int import_pack(const StateLayout& layout, const std::map<std::string, std::string>& given) {
  const fs::path place = layout.pack(given.at("--pack"));
  const Json manifest = {{"kind", "features"},
                         {"preprocessing", {{"kind", "image"}}},
                         {"samples", {{"train", 0}, {"val", 0}}},
                         {"classes", {"7"}},
                         {"shards", Json::array()}};
  fs::create_directories(place);
  std::ofstream(place / "pack.json") << manifest;
  return answer(given, pack_told(manifest, given.at("--pack"), place));
}

// A selection between processors, as if it had been measured.
Json processors(const JobFile& job, const std::string& method) {
  if (job.spec.name == "no-device") return {{"why", "no driver is installed"}};
  return {{"device", "a made-up GPU"},
          {"method", method},
          {"layers",
           {{{"name", "classifier"},
             {"type", "fully_connected"},
             {"processors", "CGG"},
             {"FP", {{"c", 0.001}, {"g", 0.002}}},
             {"BP", {{"c", 0.004}, {"g", 0.001}}},
             {"UP", {{"c", 0.002}, {"g", 0.001}}}}}},
          {"methods",
           {{"cpu", {{"seconds", 0.007}, {"transfers", 0}}},
            {"path", {{"seconds", 0.004}, {"transfers", 2}}}}},
          {"refused", Json::array()}};
}

// A plan with a round number.
// Notes that it was started, tells how far it is, and waits while there is a file "hold-studies".
int study(const std::map<std::string, std::string>& given) {
  const fs::path state = given.at("--state-dir");
  std::ofstream(state / "studies", std::ios::app) << ::getpid() << "\n";
  Progress progress;
  progress.stage = Stage::kCache;
  progress.done = 16;
  progress.total = 1000;
  EventWriter events(STDOUT_FILENO);
  events.progress(progress);
  if (given.contains("--suggest"))
    events.suggestions({{{"digest", std::string(32, '0')}, {"proposals", Json::array()}}});
  while (fs::exists(state / "hold-studies")) ::usleep(5000);
  return answer(given, {{"unlabelled", 0}, {"suggestions", Json::array()}});
}

int plan(const JobFile& job, const std::map<std::string, std::string>& given) {
  if (given.contains("--suggest") || given.contains("--audit") || given.contains("--meanings"))
    return study(given);
  EventWriter events(STDOUT_FILENO);
  if (job.spec.name == "no-plan") ::raise(SIGKILL);
  if (job.spec.name == "endless-plan") ::pause();
  if (job.spec.name == "unfit") {
    events.error(ValidationError(
        "the job description",
        {{"/memory/budget_bytes", "the night needs 2000 bytes; 1000 are allowed"}}));
    return kExitBadData;
  }
  const Json parts = {{"libraries", 0},  {"weights", 90},  {"samples", 10},
                      {"decoding", 100}, {"caching", 300}, {"training", 900},
                      {"judging", 900},  {"listening", 0}, {"trials", 0}};
  Json reply = {{"predicted_bytes", 1000},
                {"budget_bytes", nullptr},
                {"parts", parts},
                {"samples", 40},
                {"steps", 10},
                {"settings", nullptr},
                {"maps", nullptr},
                {"training", nullptr},
                {"less", Json::array()}};
  if (const auto method = given.find("--processors"); method != given.end()) {
    reply["processors"] = processors(job, method->second);
    if (given.contains("--picture") && !reply["processors"].contains("why"))
      reply["picture"] = "<svg>the schedule</svg>";
  }
  return answer(given, reply);
}

Json everything(const std::map<std::string, std::string>& given) {
  Json top = Json::array();
  const std::string name(200, 'x');
  for (int i = std::stoi(given.at("--top")); i > 0; --i)
    top.push_back({{"label", name + std::to_string(i)}, {"probability", 0.001}});
  return top;
}

// For an image that says "wrong-since-3": whether this is version 3 or a later one.
bool is_wrong(const std::string& text, const std::string& folder) {
  const std::string mark = "wrong-since-";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return false;
  return std::stoi(fs::path(folder).filename().string()) >=
         std::stoi(text.substr(at + mark.size()));
}

// From its second on.
Json heard(const char* label) {
  const Json interval{{"from", 0.96}, {"to", 2.4}, {"label", label}, {"probability", 0.97}};
  return {{"unit", "seconds"}, {"intervals", {interval}}, {"more", 0}};
}

// Every image is a seven, or a nine if the model is wrong; one that begins with "bad" cannot be
// read. One that begins with "many" is as many things as were asked for, and of one that says
// "kills" the worker dies. A model in whose folder there is a file "broken" says nothing.
int predict(int argc, char** argv) {
  const auto given = options(argc, argv);
  if (fs::exists(fs::path(given.at("--model-folder")) / "broken")) {
    EventWriter(STDOUT_FILENO).error(Error(ErrorCode::kIo, "the model cannot be read"));
    return kExitSoftware;
  }
  Json predictions = Json::array();
  for (int i = 2; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) != "--image") continue;
    const auto bytes = read_descriptor(std::stoi(argv[i + 1]), 1 << 20);
    const std::string text(bytes.begin(), bytes.end());
    if (text.find("kills") != std::string::npos) return kExitSoftware;
    if (text.starts_with("many"))
      predictions.push_back({{"top", everything(given)}});
    else if (text.starts_with("bad"))
      predictions.push_back({{"error", {{"code", "bad_data"}, {"message", "not an image"}}}});
    else {
      const char* said = is_wrong(text, given.at("--model-folder")) ? "nine" : "seven";
      predictions.push_back(
          {{"top", {{{"label", said}, {"probability", 0.97}}}}, {"labels", {said}}});
      if (std::string(argv[argc - 1]) == "--timeline") predictions.back()["timeline"] = heard(said);
    }
  }
  return answer(given, {{"predictions", predictions}});
}

// Hears "seven" in every line that comes; a line that begins with "bad" is no sound.
int listen(int argc, char** argv) {
  std::map<std::string, std::string> given = options(argc, argv);
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (const auto at = word.find('='); at != std::string::npos)
      given[word.substr(0, at)] = word.substr(at + 1);
  }
  EventWriter events(STDOUT_FILENO);
  FILE* const sound = ::fdopen(std::stoi(given.at("--sound")), "r");
  int lines = 0;
  for (std::array<char, 64> line{}; std::fgets(line.data(), line.size(), sound) != nullptr;) {
    const std::string text = line.data();
    if (text.starts_with("bad")) {
      events.error(Error(ErrorCode::kBadData, given.at("--name") + ": it is text, no sound"));
      return kExitBadData;
    }
    const double every = given.contains("--every") ? std::stod(given.at("--every")) : 0.08;
    events.heard(++lines * every, "seven",
                 given.contains("--threshold") ? std::stod(given.at("--threshold")) : 0.97);
  }
  Json reply = {{"seconds", 2 * lines}, {"events", lines}};
  if (given.contains("--rate")) reply["remark"] = "its rate is " + given.at("--rate");
  return answer(given, reply);
}

// The same for any image; none for one that begins with "bad".
int preview(int argc, char** argv) {
  Json previews = Json::array();
  for (int i = 2; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) != "--image") continue;
    const auto bytes = read_descriptor(std::stoi(argv[i + 1]), 1 << 20);
    if (std::string(bytes.begin(), bytes.end()).find("bad") == std::string::npos)
      previews.push_back({{"jpeg", "/9j/"}, {"width", 128}, {"height", 96}});
    else
      previews.push_back({{"error", {{"code", "bad_data"}, {"message", "not an image"}}}});
  }
  return answer(options(argc, argv), {{"previews", previews}});
}

// Every sample can be decoded but one that says "undecodable"; of one that says "kills-trials" the
// worker dies.
int try_samples(int argc, char** argv) {
  Json tried = Json::array();
  for (int i = 2; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) != "--image") continue;
    const auto bytes = read_descriptor(std::stoi(argv[i + 1]), 64 << 20);
    const std::string text(bytes.begin(), bytes.end());
    if (text.find("kills-trials") != std::string::npos) return kExitSoftware;
    tried.push_back(Json::object());
    if (text.find("undecodable") != std::string::npos)
      tried.back()["error"] = {{"code", "bad_data"}, {"message", "it cannot be read: cut off"}};
  }
  return answer(options(argc, argv), {{"samples", tried}});
}

// The same sound for any recording; none for one that begins with "bad".
int cut(int argc, char** argv) {
  std::map<std::string, std::string> given = options(argc, argv);
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (const auto at = word.find('='); at != std::string::npos)
      given[word.substr(0, at)] = word.substr(at + 1);
  }
  const auto bytes = read_descriptor(std::stoi(given.at("--recording")), 1 << 20);
  if (std::string(bytes.begin(), bytes.end()).starts_with("bad")) {
    EventWriter(STDOUT_FILENO)
        .error(Error(ErrorCode::kBadData, given.at("--name") + ": it is text, no sound"));
    return kExitBadData;
  }
  if (!write_all(std::stoi(given.at("--piece")), std::string_view("RIFF\4\0\0\0WAVE", 12)))
    return kExitSoftware;
  return answer(given, {{"recording", std::string(32, 'a')},
                        {"rate", 16000},
                        {"channels", 1},
                        {"frames", 24000},
                        {"seconds", 1.5}});
}

// A machine with round numbers.
int doctor(const std::map<std::string, std::string>& given) {
  return answer(given, {{"threads", 2},
                        {"sgemm_gflops", 80},
                        {"peak_gflops", 100},
                        {"copy_gbytes", 10},
                        {"blas", "OpenBLAS 0.3.21"},
                        {"blas_kernel", "Round"},
                        {"vector_target", "AVX2"},
                        {"onednn", ""},
                        {"unconfined", ""}});
}

// One layer, which is what model.json says.
int diff(const std::map<std::string, std::string>& given) {
  const auto content = [&](const char* folder) {
    return read_text(fs::path(given.at(folder)) / "model.json");
  };
  const bool identical = content("--model-folder") == content("--other");
  return answer(
      given, {{"layers",
               {{{"layer", "all"},
                 {"type", "dense"},
                 {"weights", 1},
                 {"in", "both"},
                 {"identical", identical},
                 {"resized", false},
                 {"change", identical ? 0.0 : 0.5}}}},
              {"labels", {{{"label", "seven"}, {"in", "both"}}, {{"label", "cat"}, {"in", "b"}}}}});
}

// An empty one; and nothing that is handed over is one.
int backup(const std::map<std::string, std::string>& given) {
  return answer(given, {{"holds", Json::object()}, {"files", 0}});
}

int restore() {
  EventWriter(STDOUT_FILENO).error(Error(ErrorCode::kBadData, "this is no backup"));
  return kExitBadData;
}

int run(int argc, char** argv) {
  if (std::string(argv[1]) == "restore") return restore();
  if (std::string(argv[1]) == "backup") return backup(options(argc, argv));
  if (std::string(argv[1]) == "diff") return diff(options(argc, argv));
  if (std::string(argv[1]) == "predict") return predict(argc, argv);
  if (std::string(argv[1]) == "listen") return listen(argc, argv);
  if (std::string(argv[1]) == "preview") return preview(argc, argv);
  if (std::string(argv[1]) == "try") return try_samples(argc, argv);
  if (std::string(argv[1]) == "cut") return cut(argc, argv);
  const auto given = options(argc, argv);
  if (std::string(argv[1]) == "doctor") return doctor(given);
  const StateLayout layout(given.at("--state-dir"));
  ::signal(SIGTERM, on_term);
  if (std::string(argv[1]) == "import") return import(layout, given);
  if (std::string(argv[1]) == "import-pack") return import_pack(layout, given);
  JobFile job = job_file_from_json(parsed_json(read_text(given.at("--job-file"))));
  if (std::string(argv[1]) == "plan") return plan(job, given);
  return Night(layout, std::move(job)).run();
}

}  // namespace
}  // namespace moil::daemon

int main(int argc, char** argv) {
  if (argc < 2) return moil::daemon::kExitUsage;
  return moil::daemon::run(argc, argv);
}
