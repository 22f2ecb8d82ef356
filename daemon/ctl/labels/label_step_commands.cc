// moilctl label assign|merge|undo
#include <sysexits.h>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/labels/label_adding.h"
#include "daemon/ctl/labels/sample_names.h"
#include "daemon/rpc/reply.h"

namespace moil::daemon::ctl {
namespace {

struct AssignOptions {
  std::vector<std::string> samples;
  GivenLabels given;
  bool as_spelled = false;
};

// A sample's labels are replaced together, a step each.
Json relabelled(Session& session, const std::vector<std::string>& digests,
                const std::vector<std::string>& labels, Spelling& spelling) {
  Json reply;
  for (const std::string& digest : digests)
    reply =
        spelling.call(session, "label.relabel", {{"digest", digest}, {"labels", labels}}, "labels");
  return {{"labels", reply["labels"]}, {"changed", digests.size()}};
}

int assign(Session& session, const AssignOptions& options) {
  const std::vector<std::string> labels = options.given.all();
  const auto digests = SampleNames(session).digests_of(options.samples);
  const Json label = labels.empty() ? Json() : Json(labels.front());
  Spelling spelling(options.as_spelled);
  const Json reply = labels.size() > 1
                         ? relabelled(session, digests, labels, spelling)
                         : spelling.call(session, "label.assign",
                                         {{"samples", digests}, {"label", label}}, "label");
  if (session.printed_json(reply)) return EX_OK;
  const std::int64_t changed = reply["changed"];
  const Json said = reply.contains("labels") ? reply["labels"] : Json::array({reply["label"]});
  session.console.print(counted(changed, "sample") + (changed == 1 ? " is now " : " are now ") +
                        (labels.empty() ? "unlabelled" : spoken_labels(said)));
  return EX_OK;
}

struct RelabelOptions {
  std::string sample;
  GivenLabels given;
  bool as_spelled = false;
};

// As it was called before.
int relabel(Session& session, const RelabelOptions& options) {
  const Json params{{"digest", SampleNames(session).digest_of(options.sample)},
                    {"labels", options.given.all()}};
  const Json reply = Spelling(options.as_spelled).call(session, "label.relabel", params, "labels");
  if (!session.printed_json(reply)) session.console.print("sample relabelled");
  return EX_OK;
}

struct MergeOptions {
  std::string from, into;
  bool as_spelled = false;
};

int merge(Session& session, const MergeOptions& options) {
  const Json reply =
      Spelling(options.as_spelled)
          .call(session, "label.merge", {{"from", options.from}, {"into", options.into}}, "into");
  if (!session.printed_json(reply))
    session.console.print("label \"" + options.from + "\" is now part of \"" +
                          cell(reply["label"]) + "\", with " + counted(reply["changed"], "sample"));
  return EX_OK;
}

struct UndoOptions {
  bool yes = false;
};

// The samples that it added are forgotten for good: not without a word.
Json undone(Session& session, bool yes) {
  if (!yes) {
    try {
      return session.call("label.undo", {{"with_samples", false}});
    } catch (const ReplyError& refused) {
      const Json count = refused.error().value("/data/would_forget"_json_pointer, Json());
      if (!count.is_number()) throw;
      session.require_consent(false, "forget " + counted(count.get<std::int64_t>(), "sample") +
                                         ", which it added, for good");
    }
  }
  return session.call("label.undo", {{"with_samples", true}});
}

// "Undone: 3 samples relabelled, 1 forgotten (assign cat, 2026-11-03T10:00:00Z)"
std::string undone_text(const Json& reply) {
  const std::int64_t restored = reply["restored"], forgotten = reply["forgotten"];
  std::string text;
  if (restored > 0) text = counted(restored, "sample") + " relabelled";
  if (forgotten > 0)
    text += (text.empty() ? "" : ", ") + counted(forgotten, "sample") + " forgotten";
  const std::string what =
      cell(reply["undone"]) +
      (reply["labels"].empty() ? "" : " of " + printable(spoken_labels(reply["labels"])));
  return "Undone: " + (text.empty() ? what : text + " (" + what + ")") + ", of " +
         cell(reply["at"]);
}

int undo(Session& session, const UndoOptions& options) {
  const Json reply = undone(session, options.yes);
  if (session.printed_json(reply)) return EX_OK;
  session.console.print(undone_text(reply));
  session.console.print(counted(reply["left"], "change") + " left to undo");
  return EX_OK;
}

}  // namespace

void add_label_step_commands(cli::Command group, Action& chosen) {
  const auto assigned = std::make_shared<AssignOptions>();
  cli::Command command = add_command(group, "assign", "give samples a label in place of theirs",
                                     chosen, assigned, assign);
  command.add_option("SAMPLE", assigned->samples, kSampleHelp).required();
  add_label_options(command, assigned->given, "their");
  add_as_spelled(command, assigned->as_spelled);

  const auto replaced = std::make_shared<RelabelOptions>();
  command = add_command(group, "relabel", "replace a sample's labels", chosen, replaced, relabel);
  command.group("");  // "assign" does it
  command.add_option("SAMPLE", replaced->sample, kSampleHelp).required();
  add_label_options(command, replaced->given, "its", /*may_be_unlabelled=*/false);
  add_as_spelled(command, replaced->as_spelled);

  const auto merged = std::make_shared<MergeOptions>();
  command =
      add_command(group, "merge", "give a label's samples to another label", chosen, merged, merge);
  command.add_option("LABEL", merged->from).required();
  command.add_option("INTO", merged->into).required();
  add_as_spelled(command, merged->as_spelled);

  const auto taken_back = std::make_shared<UndoOptions>();
  command =
      add_command(group, "undo", "take back the last change of labels", chosen, taken_back, undo);
  command.add_flag("-y,--yes", taken_back->yes,
                   "where it added samples, forget them for good without asking");
  command.add_flag("--with-samples", taken_back->yes).group("");  // as it was called before
}

}  // namespace moil::daemon::ctl
