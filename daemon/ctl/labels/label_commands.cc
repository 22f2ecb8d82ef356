// moilctl label add|list|rm|rename|forget|samples|map
#include <sysexits.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/labels/label_adding.h"
#include "daemon/ctl/labels/sample_files.h"
#include "daemon/ctl/labels/sample_names.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/text.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

// --- label add ----------------------------------------------------------------------------------

int add(Session& session, const AddOptions& given) {
  AddOptions options = given;
  options.labels = given.given.all();
  options.step = new_step();
  const SampleFiles found = gather_samples(options.files);
  tell_passed_over(session.console, found);
  Added all{.spelling = Spelling(options.as_spelled)};
  add_files(session, options, found.files, all, 0, found.files.size());
  Json passed_over = Json::array();
  for (const auto& passed : found.passed_over)
    passed_over.push_back({{"file", data::shown(passed.file.string())}, {"why", passed.why}});
  const Json total{{"added", all.added},
                   {"failed", all.failed},
                   {"samples", all.samples},
                   {"passed_over", std::move(passed_over)}};
  if (!session.printed_json(total)) session.console.print(summary_of(all));
  if (found.files.empty()) session.console.note("there is no file to add");
  if (found.files.empty()) return EX_NOINPUT;
  return all.failed > 0 ? EX_DATAERR : EX_OK;
}

// --- label list, samples ------------------------------------------------------------------------

int list(Session& session, const NoOptions&) {
  const Json reply = session.list("label.list", Json::object(), "labels");
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows{{"LABEL", "SAMPLES", "HELD OUT"}};
  for (const Json& label : reply["labels"]) {
    rows.push_back({spoken_labels(Json::array({label["name"]})), cell(label["samples"]),
                    cell(label["validation"])});
  }
  session.console.table(rows);
  if (const Json unlabelled = reply.value("unlabelled", Json());
      unlabelled.is_number() && unlabelled != 0)
    session.console.print(cell(unlabelled) + " unlabelled: moilctl label samples --unlabelled");
  return EX_OK;
}

struct SamplesOptions {
  std::vector<std::string> called;
  std::string label;
  std::string split;
  bool unlabelled = false;
  std::int64_t after = 0;
  std::size_t limit = 0;  // none
};

Json those_called(const Json& samples, const std::vector<std::string>& names) {
  Json found = Json::array();
  for (const std::string& name : names)
    for (const Json& sample : samples_called(samples, name)) found.push_back(sample);
  return found;
}

int samples(Session& session, const SamplesOptions& options) {
  Json params{{"after", options.after}, {"limit", 1000}};
  if (!options.label.empty()) params["label"] = options.label;
  if (!options.split.empty()) params["split"] = options.split;
  if (options.unlabelled) params["unlabelled"] = true;
  Json reply = session.list("label.samples", params, "samples", options.limit);
  if (!options.called.empty()) reply["samples"] = those_called(reply["samples"], options.called);
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows{
      {"ID", "DIGEST", "SPLIT", "SIZE", "TYPE", "LABELS", "NAME"}};
  for (const Json& s : reply["samples"]) {
    rows.push_back({cell(s["id"]), cell(s["digest"]), cell(s["split"]),
                    bytes_text(s["bytes"].get<double>()), cell(s["media_type"]),
                    spoken_labels(s["labels"]), s.value("name", "")});
  }
  session.console.table(rows);
  return EX_OK;
}

// --- label rm, rename, forget, map --------------------------------------------------------------

struct RmOptions {
  std::string label;
  bool with_samples = false;
  bool yes = false;
};

std::string listed(const Json& versions) {
  Json names = Json::array();
  for (const Json& v : versions) {
    names.push_back(cell(v["model"]) + " " + cell(v["version"]) +
                    (v["active"] == true ? " (in service)" : ""));
  }
  return joined(names);
}

// Where forgotten samples live on, and how that ends, too.
void tell_versions(Console& console, const Json& reply) {
  const Json learned = reply.value("versions", Json::array());
  const Json named = reply.value("named_in", Json::array());
  if (!learned.empty())
    console.print("these versions learned from what was forgotten: " + listed(learned));
  if (!named.empty()) console.print("these versions have a class of that name: " + listed(named));
  if (!learned.empty() || !named.empty())
    console.print("moilctl model rm MODEL VERSION removes a version, moilctl model rm MODEL all");
}

// How many samples carry the label, or are said not to; none if there is no such label.
std::int64_t samples_of(Session& session, const std::string& label) {
  const Json reply = session.list("label.list", Json::object(), "labels");
  std::int64_t count = 0;
  for (const Json& one : reply["labels"])
    if (one["name"] == label || one["name"] == data::denial_of(label))
      count += one["samples"].get<std::int64_t>();
  return count;
}

int rm(Session& session, const RmOptions& options) {
  if (options.with_samples && !options.yes)
    if (const auto count = samples_of(session, options.label); count > 0)
      session.require_consent(false, "forget " + counted(count, "sample") + " of \"" +
                                         printable(options.label) +
                                         "\" for good, except those with another label");
  const Json reply =
      session.call("label.rm", {{"label", options.label}, {"with_samples", options.with_samples}});
  if (session.printed_json(reply)) return EX_OK;
  const std::int64_t forgotten = reply["forgotten"];
  session.console.print("label \"" + options.label + "\" removed" +
                        (forgotten == 0 ? "" : ", " + counted(forgotten, "sample") + " forgotten"));
  tell_versions(session.console, reply);
  return EX_OK;
}

struct RenameOptions {
  std::string from;
  std::string to;
  bool as_spelled = false;
};

int rename(Session& session, const RenameOptions& options) {
  const Json reply =
      Spelling(options.as_spelled)
          .call(session, "label.rename", {{"from", options.from}, {"to", options.to}}, "to");
  if (!session.printed_json(reply))
    session.console.print("label is now \"" + cell(reply["label"]) + "\"");
  return EX_OK;
}

constexpr std::size_t kForgottenAtOnce = 1000;  // label.forget takes no more

struct ForgetOptions {
  std::vector<std::string> samples;
  bool yes = false;
};

// Versions of several replies, each once.
void join_versions(Json& all, const Json& reply) {
  for (const char* which : {"versions", "named_in"})
    for (const Json& version : reply.value(which, Json::array()))
      if (std::ranges::find(all[which], version) == all[which].end()) all[which].push_back(version);
}

int forget(Session& session, const ForgetOptions& options) {
  SampleNames names(session);
  const std::vector<std::string> digests = names.digests_within(options.samples);
  const auto count = static_cast<std::int64_t>(digests.size());
  if (!options.yes && count > 0)
    session.require_consent(
        false, "forget " + (count == 1 ? names.title(digests[0]) : counted(count, "sample")) +
                   " for good");
  Json all{{"forgotten", count}, {"versions", Json::array()}, {"named_in", Json::array()}};
  for (std::size_t at = 0; at < digests.size(); at += kForgottenAtOnce) {
    const std::size_t end = std::min(at + kForgottenAtOnce, digests.size());
    const std::vector<std::string> some(digests.begin() + static_cast<std::ptrdiff_t>(at),
                                        digests.begin() + static_cast<std::ptrdiff_t>(end));
    join_versions(all, session.call("label.forget", {{"digests", some}}));
    if (digests.size() > kForgottenAtOnce)
      session.console.bar(static_cast<double>(end) / static_cast<double>(count), "forgetting",
                          std::to_string(end));
  }
  session.console.end_bar();
  if (session.printed_json(all)) return EX_OK;
  session.console.print((count == 1 ? "sample" : counted(count, "sample")) + " forgotten");
  tell_versions(session.console, all);
  return EX_OK;
}

struct MapOptions {
  bool suggest = false;
  std::string model;
  std::string label;
  std::vector<std::string> global;
  bool as_spelled = false;
};

// A name with a comma in it among others.
std::string in_a_list(const std::string& name) {
  return name.find(',') == std::string::npos ? name : "\"" + name + "\"";
}

int map(Session& session, const MapOptions& options) {
  if (options.suggest) return show_meanings(session, options.model);
  if (!options.label.empty()) {
    Spelling(options.as_spelled)
        .call(session, "label.map", {{"label", options.label}, {"global", options.global}},
              "label");
  }
  const Json reply = session.list("label.map", Json::object(), "map");
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows{{"LOCAL LABEL", "GLOBAL LABELS"}};
  for (const auto& [label, global] : reply["map"].items()) {
    Json names = Json::array();
    for (const Json& name : global) names.push_back(in_a_list(cell(name)));
    rows.push_back({label, joined(names)});
  }
  session.console.table(rows);
  return EX_OK;
}

void add_sample_commands(cli::Command group, Action& chosen) {
  const auto added = std::make_shared<AddOptions>();
  cli::Command command = add_command(group, "add", "add samples under a label", chosen, added, add);
  command.add_option("FILE", added->files, "files, or folders with files in them and below")
      .required();
  add_label_options(command, added->given, "their");
  command.add_option("--split", added->split, "train or val; chosen by content if left out");
  add_as_spelled(command, added->as_spelled);

  const auto listed = std::make_shared<SamplesOptions>();
  command = add_command(group, "samples", "samples, oldest first", chosen, listed, samples);
  command.add_option("SAMPLE", listed->called,
                     "only those whose name ends so, or whose digest begins so");
  command.add_option("--label", listed->label, "only those of this label");
  command.add_option("--split", listed->split, "only train or val");
  command.add_flag("--unlabelled", listed->unlabelled, "only those without a label");
  command.add_option("--after=ID", listed->after, "go on after this ID");
  command.add_option("--limit", listed->limit, "at most so many; all if left out");

  const auto forgotten = std::make_shared<ForgetOptions>();
  command = add_command(group, "forget", "remove samples and all that was made of them", chosen,
                        forgotten, forget);
  command
      .add_option("SAMPLE", forgotten->samples,
                  std::string(kSampleHelp) + "; a folder stands for its files")
      .required();
  add_yes(command, forgotten->yes);
}

}  // namespace

void add_label_commands(cli::Command app, Action& chosen) {
  cli::Command group = app.add_subcommand("label", "labels and their samples").group(kLearning);
  group.require_subcommand(1);
  add_sample_commands(group, chosen);
  add_label_step_commands(group, chosen);
  add_label_exchange_commands(group, chosen);
  add_label_watch_command(group, chosen);
  add_label_cut_command(group, chosen);
  add_label_study_commands(group, chosen);
  add_old_review_command(group, chosen);
  add_command(group, "list", "labels", chosen, std::make_shared<NoOptions>(), list);

  const auto removed = std::make_shared<RmOptions>();
  cli::Command command = add_command(group, "rm", "remove a label", chosen, removed, rm);
  command.add_option("LABEL", removed->label).required();
  command.add_flag("--with-samples", removed->with_samples, "forget its samples as well");
  add_yes(command, removed->yes);

  const auto renamed = std::make_shared<RenameOptions>();
  command = add_command(group, "rename", "rename a label", chosen, renamed, rename);
  command.add_option("LABEL", renamed->from).required();
  command.add_option("TO", renamed->to).required();
  add_as_spelled(command, renamed->as_spelled);

  const auto mapped = std::make_shared<MapOptions>();
  command = add_command(group, "map", "show or set which global labels a local one stands for",
                        chosen, mapped, map);
  command.add_flag("--suggest", mapped->suggest, "which ones local labels may stand for");
  command.add_option("--model", mapped->model,
                     "the model that --suggest asks, if there are several");
  command.add_option("LABEL", mapped->label);
  command.add_option("GLOBAL", mapped->global, "none: remove the entry");
  add_as_spelled(command, mapped->as_spelled);
}

}  // namespace moil::daemon::ctl
