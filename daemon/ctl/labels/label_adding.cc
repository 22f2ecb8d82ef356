#include "daemon/ctl/labels/label_adding.h"

#include <algorithm>
#include <random>

#include "base/error.h"
#include "daemon/ctl/labels/sample_files.h"
#include "daemon/rpc/limits.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/media_type.h"
#include "datasets/labels/something_else.h"
#include "datasets/labels/text.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

Json add_some(Session& session, const AddOptions& options, std::span<const OpenSample> files,
              Spelling& spelling) {
  std::vector<int> descriptors;
  Json samples = Json::array();
  for (const OpenSample& sample : files) {
    samples.push_back({{"file", descriptors.size()}, {"name", data::shown(sample.path.string())}});
    descriptors.push_back(sample.file.get());
  }
  Json params{{"labels", options.labels}, {"samples", std::move(samples)}};
  if (!options.split.empty()) params["split"] = options.split;
  if (!options.step.empty()) params["step"] = options.step;
  if (options.dry_run) params["dry_run"] = true;
  return spelling.call(session, "label.add", std::move(params), "labels", descriptors);
}

bool is_a_sound(const UniqueFd& file) { return data::is_sound(media_type_of(file)); }

// How the labels of a sample that is there already are changed to those that were asked for, and
// what is done with a recording that is too long.
std::string advice(const UniqueFd& file, const Json& sample, const AddOptions& options) {
  if (sample["error"]["code"] == "resource_exhausted" && is_a_sound(file))
    return ": add pieces of it, with moilctl label cut";
  if (sample["error"]["code"] != "already_exists") return "";
  std::string command = "moilctl label assign " + cell(sample["digest"]);
  for (const std::string& label : options.labels)
    command +=
        (data::is_denial(label) ? " --not \"" : " --label \"") + data::without_denial(label) + "\"";
  return ": " + command;
}

// If there is more to wait for than one request.
void show_progress(Console& console, bool dry_run, std::size_t done, std::size_t all) {
  if (all <= kFilesAtOnce) return;
  console.bar(static_cast<double>(done) / static_cast<double>(all), dry_run ? "trying" : "adding",
              std::to_string(done) + " of " + std::to_string(all));
}

}  // namespace

bool is_mostly_silent(const Json& share) { return share.is_number() && share > 0.5; }

std::vector<std::string> GivenLabels::all() const {
  std::vector<std::string> found = labels;
  for (const std::string& label : denied) found.push_back(data::denial_of(label));
  if ((found.empty() ? 0 : 1) + (label_none ? 1 : 0) + (unlabelled ? 1 : 0) != 1)
    throw Error(ErrorCode::kInvalidArgument,
                "give --label or --not, or one of --label-none and --unlabelled");
  return label_none ? std::vector{std::string(data::kSomethingElse)} : found;
}

void add_label_options(const cli::Command& command, GivenLabels& given, const std::string& whose,
                       bool may_be_unlabelled) {
  const std::string who = whose == "its" ? "it is" : "they are";
  command.add_option("--label", given.labels, whose + " label; may be given more than once")
      .one_value_each_time();
  command
      .add_option("--not=LABEL", given.denied,
                  who + " not of this label; may be given more than once")
      .one_value_each_time();
  command.add_flag("--label-none", given.label_none,
                   who + " of none of the labels: \"something else\"");
  if (may_be_unlabelled)
    command.add_flag("--unlabelled", given.unlabelled,
                     "without a label: what " + who + " is said later");
}

std::string spoken_labels(const Json& labels) {
  Json spoken = Json::array();
  for (const Json& label : labels) spoken.push_back(data::spoken_label(label.get<std::string>()));
  return joined(spoken);
}

std::string new_step() {
  std::random_device random;
  return std::to_string(random()) + "-" + std::to_string(random());
}

void add_open_files(Session& session, const AddOptions& options, std::span<const OpenSample> files,
                    Added& all) {
  const Json reply = add_some(session, options, files, all.spelling);
  all.added += reply["added"].get<int>();
  all.failed += reply["failed"].get<int>();
  std::vector<Json> samples;
  for (std::size_t i = 0; i < files.size(); ++i) {
    Json& sample = samples.emplace_back(reply["samples"][i]);
    sample["file"] = data::shown(files[i].path.string());
    if (sample.contains("error")) {
      session.console.note(printable(files[i].path.string()) + ": " +
                           cell(sample["error"]["message"]) +
                           advice(files[i].file, sample, options));
    }
    all.mostly_silent += is_mostly_silent(sample.value("silent", Json())) ? 1 : 0;
  }
  for (Json& sample : samples) all.samples.push_back(std::move(sample));
}

void add_files(Session& session, const AddOptions& options, std::span<const fs::path> files,
               Added& all, std::size_t done, std::size_t of) {
  for (std::size_t at = 0; at < files.size(); at += kFilesAtOnce) {
    const auto some = files.subspan(at, std::min(kFilesAtOnce, files.size() - at));
    std::vector<OpenSample> open;
    for (const fs::path& file : some) open.push_back({file, open_sample(file)});
    add_open_files(session, options, open, all);
    show_progress(session.console, options.dry_run, done + at + some.size(), of);
  }
  session.console.end_bar();
}

std::string summary_of(const Added& all) {
  const auto known = static_cast<std::int64_t>(all.samples.size()) - all.added - all.failed;
  std::string text;
  for (const auto& [count, what] : {std::pair<std::int64_t, const char*>{all.added, " added"},
                                    {known, " known already"},
                                    {all.failed, " refused"}})
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  if (text.empty()) text = "nothing added";
  if (all.mostly_silent > 0) text += "; " + std::to_string(all.mostly_silent) + " " + kMostlySilent;
  return text;
}

}  // namespace moil::daemon::ctl
