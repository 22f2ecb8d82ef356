// moilctl label assign|merge|undo
#include <sysexits.h>
#include <unistd.h>

#include <iostream>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/labels/label_adding.h"
#include "daemon/rpc/reply.h"

namespace moil::daemon::ctl {
namespace {

struct AssignOptions {
  std::vector<std::string> digests;
  std::string label;
  bool label_none = false;
  bool unlabelled = false;
};

int assign(Session& session, const AssignOptions& options) {
  std::vector<std::string> labels;
  if (!options.label.empty()) labels.push_back(options.label);
  labels = labels_given(labels, options.label_none, options.unlabelled);
  const Json label = labels.empty() ? Json() : Json(labels.front());
  const Json reply = session.call("label.assign", {{"samples", options.digests}, {"label", label}});
  if (!session.printed_json(reply))
    session.console.print(cell(reply["changed"]) + " samples are now " +
                          (options.unlabelled ? "unlabelled" : "\"" + cell(reply["label"]) + "\""));
  return EX_OK;
}

struct MergeOptions {
  std::string from, into;
};

int merge(Session& session, const MergeOptions& options) {
  const Json reply = session.call("label.merge", {{"from", options.from}, {"into", options.into}});
  if (!session.printed_json(reply))
    session.console.print("label \"" + options.from + "\" is now part of \"" +
                          cell(reply["label"]) + "\", with " + cell(reply["changed"]) + " samples");
  return EX_OK;
}

struct UndoOptions {
  bool with_samples = false;
};

// Asks if there is somebody to ask.
bool is_agreed(Session& session, const std::string& question) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1 || session.json) return false;
  session.console.note(question + " [y/N]");
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

// The samples that it added are forgotten for good: not without a word.
Json undone(Session& session, bool with_samples) {
  try {
    return session.call("label.undo", {{"with_samples", with_samples}});
  } catch (const ReplyError& refused) {
    const Json count = refused.error().value("/data/would_forget"_json_pointer, Json());
    if (!count.is_number()) throw;
    const std::string what =
        cell(count) + (count == 1 ? " sample that it added" : " samples that it added");
    if (!is_agreed(session, "to undo it forgets " + what + " for good; go on?"))
      throw Error(
          ErrorCode::kFailedPrecondition,
          "not undone, for " + what +
              " would be forgotten for good; \"moilctl label undo --with-samples\" does it");
  }
  return session.call("label.undo", {{"with_samples", true}});
}

int undo(Session& session, const UndoOptions& options) {
  const Json reply = undone(session, options.with_samples);
  if (session.printed_json(reply)) return EX_OK;
  std::string text = "undone: label " + cell(reply["undone"]);
  if (!reply["labels"].empty()) text += " of " + joined(reply["labels"]);
  text += ", of " + cell(reply["at"]) + ":";
  session.console.print(text + " " + cell(reply["restored"]) +
                        " samples have their labels again, " + cell(reply["forgotten"]) +
                        " that it added are forgotten");
  session.console.print(cell(reply["left"]) + " more can be undone");
  return EX_OK;
}

}  // namespace

void add_label_step_commands(cli::Command group, Action& chosen) {
  const auto assigned = std::make_shared<AssignOptions>();
  cli::Command command = add_command(group, "assign", "give samples a label in place of theirs",
                                     chosen, assigned, assign);
  command.add_option("DIGEST", assigned->digests, "see label samples").required();
  command.add_option("--label", assigned->label, "the label");
  command.add_flag("--label-none", assigned->label_none,
                   "they are of none of the labels: \"something else\"");
  command.add_flag("--unlabelled", assigned->unlabelled, "no label");

  const auto merged = std::make_shared<MergeOptions>();
  command =
      add_command(group, "merge", "give a label's samples to another label", chosen, merged, merge);
  command.add_option("LABEL", merged->from).required();
  command.add_option("INTO", merged->into).required();

  const auto taken_back = std::make_shared<UndoOptions>();
  command =
      add_command(group, "undo", "take back the last change of labels", chosen, taken_back, undo);
  command.add_flag("--with-samples", taken_back->with_samples,
                   "where it added samples, forget them for good without asking");
}

}  // namespace moil::daemon::ctl
