// moilctl label audit, label suggest, label map --suggest: what the model tells of the labels
#include <sysexits.h>

#include "daemon/client/model_desk.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/labels/label_adding.h"

namespace moil::daemon::ctl {
namespace {

struct StudyOptions {
  std::string model;
  int limit = 100;
};

using Rows = std::vector<std::vector<std::string>>;

std::string name_of(const Json& sample) {
  const std::string name = sample.value("name", "");
  return name.empty() ? cell(sample["digest"]) : printable(name);
}

// What looks through samples; how far it is, is shown.
Json asked(Session& session, const std::string& method, Json params) {
  params["progress"] = !session.json;
  const auto show = [&session](const Json& notification) {
    const Json& at = notification["params"];
    const double done = at.value("done", 0.0), total = at.value("total", 0.0);
    const bool measures = at.value("stage", "") == "measure";
    session.console.bar(total > 0 ? done / total : 0,
                        measures ? "measuring what computes fastest" : "looking at samples",
                        measures ? "" : cell(at["done"]) + " of " + cell(at["total"]));
  };
  return session.call(method, params, {}, show);
}

void print_wrong(Console& console, const Json& reply) {
  if (reply["wrong"].empty()) return console.print("no label looks wrong");
  Rows rows{{"", "LABEL", "LOOKS LIKE", "PROBABILITY", "DIGEST", "NAME"}};
  for (const Json& doubt : reply["wrong"])
    rows.push_back({doubt["likely"] == true ? "wrong" : "doubtful", spoken_labels(doubt["labels"]),
                    cell(doubt["looks_like"]), percent(doubt["probability"]), cell(doubt["digest"]),
                    name_of(doubt)});
  console.table(rows);
}

void print_scenes(Console& console, const Json& scenes, const std::string& what) {
  if (scenes.empty()) return;
  console.print("");
  console.print(what + ":");
  Rows rows{{"SCENE", "LABELS", "SPLIT", "DIGEST", "NAME"}};
  std::size_t number = 0;
  for (const Json& scene : scenes) {
    ++number;
    for (const Json& sample : scene["samples"])
      rows.push_back({std::to_string(number), spoken_labels(sample["labels"]),
                      cell(sample["split"]), cell(sample["digest"]), name_of(sample)});
  }
  console.table(rows);
}

int audit(Session& session, const StudyOptions& options) {
  const std::string model = options.model.empty() ? only_model(session) : options.model;
  const Json reply = asked(session, "label.audit", {{"model", model}, {"limit", options.limit}});
  if (session.printed_json(reply)) return EX_OK;
  Console& console = session.console;
  print_wrong(console, reply);
  print_scenes(console, reply["alike"], "these look alike, and their labels differ");
  print_scenes(console, reply["both_sides"],
               "these look alike, and lie on both sides of the split");
  for (const Json& sample : reply["single"])
    console.note("one sample alone: " + spoken_labels(sample["labels"]));
  for (const Json& sample : reply["unreadable"])
    console.note(name_of(sample) + " cannot be read: " + printable(cell(sample["why"])));
  return EX_OK;
}

int suggest(Session& session, const StudyOptions& options) {
  const std::string model = options.model.empty() ? only_model(session) : options.model;
  const Json reply = asked(session, "label.suggest", {{"model", model}, {"limit", options.limit}});
  if (session.printed_json(reply)) return EX_OK;
  if (reply["suggestions"].empty()) {
    session.console.print("there are no unlabelled samples");
    return EX_OK;
  }
  Rows rows{{"DIGEST", "LOOKS LIKE", "PROBABILITY", "OR", "NAME"}};
  for (const Json& sample : reply["suggestions"]) {
    const Json& said = sample["proposals"];
    const std::string mark = sample.value("not_sure", false) ? "? " : "";
    rows.push_back({cell(sample["digest"]), mark + cell(said[0]["label"]),
                    percent(said[0]["probability"]), joined(other_proposals(sample)),
                    name_of(sample)});
  }
  session.console.table(rows);
  return EX_OK;
}

}  // namespace

int show_meanings(Session& session, const std::string& named) {
  const std::string model = named.empty() ? only_model(session) : named;
  const Json reply = asked(session, "label.meanings", {{"model", model}});
  if (session.printed_json(reply)) return EX_OK;
  Rows rows{{"LOCAL LABEL", "MAY MEAN", "PROBABILITY", "ALIKE NAMES", "IS MAPPED TO"}};
  for (const Json& label : reply["labels"]) {
    std::string name = cell(label["label"]), mapped = joined(label["mapped"]);
    for (const Json& candidate : label["candidates"]) {
      rows.push_back({name, cell(candidate["label"]), percent(candidate["probability"]),
                      percent(candidate["name_likeness"]), mapped});
      name.clear();
      mapped.clear();
    }
  }
  session.console.table(rows);
  return EX_OK;
}

void add_label_study_commands(cli::Command group, Action& chosen) {
  const auto audited = std::make_shared<StudyOptions>();
  cli::Command command =
      add_command(group, "audit", "labels that are likely wrong, by what the others teach", chosen,
                  audited, audit);
  command.add_option("--model", audited->model, "which model, where there are several");
  command.add_option("--limit", audited->limit, "at most so many")
      .check(cli::within(1, 10000))
      .capture_default_str();
  const auto suggested = std::make_shared<StudyOptions>();
  command = add_command(group, "suggest",
                        "what the model proposes for unlabelled samples, the most useful first",
                        chosen, suggested, suggest);
  command.add_option("--model", suggested->model, "which model, where there are several");
  command.add_option("--limit", suggested->limit, "at most so many")
      .check(cli::within(1, 10000))
      .capture_default_str();
}

}  // namespace moil::daemon::ctl
