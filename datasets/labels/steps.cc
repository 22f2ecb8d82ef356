#include "datasets/labels/steps.h"

#include <algorithm>

#include "base/error.h"
#include "base/seconds.h"

namespace moil::data {

std::int64_t Steps::begin(std::string_view kind, std::string_view name) {
  return journal_.begin(kind, name, now_milliseconds() / 1000);
}

void Steps::note_labels(std::int64_t step, std::span<const std::string> names) {
  for (const std::string& name : names) journal_.note(step, name, samples_.globals_of(name));
}

void Steps::note_new_labels(std::int64_t step, std::span<const std::string> names) {
  for (const std::string& name : names)
    if (!samples_.globals_of(name)) journal_.note(step, name, std::nullopt);
}

bool Steps::set_labels(Sides& sides, std::int64_t step, const Digest& digest,
                       std::span<const std::string> names) {
  const auto before = samples_.labels_of(samples_.id_of(digest));
  if (!samples_.put_labels(sides, digest, names)) return false;
  journal_.note(step, digest, before);
  return true;
}

UndoneStep Steps::undo(LabelChange& change, std::string_view step) {
  const std::vector<LabelStep> steps = journal_.last(step);
  if (steps.empty()) {
    throw Error(ErrorCode::kFailedPrecondition,
                step.empty()
                    ? "there is no change of labels to be undone"
                    : "this change of labels is undone already, or too long ago: the last " +
                          std::to_string(LabelJournal::kMostSteps) + " can be undone");
  }
  UndoneStep undone;
  undone.kind = steps.back().kind;
  undone.at = steps.back().at;
  for (const LabelStep& one : steps) take_back(change, one, undone);
  std::ranges::sort(undone.labels);
  const auto doubles = std::unique(undone.labels.begin(), undone.labels.end());
  undone.labels.erase(doubles, undone.labels.end());
  undone.left = journal_.steps();
  return undone;
}

void Steps::take_back(LabelChange& change, const LabelStep& step, UndoneStep& undone) {
  const LabelStep ours = journal_.take_out(step);
  if (step.kind == "rename") undo_rename(ours);
  for (const auto& [label, globals] : ours.labels) {
    undone.labels.push_back(label);
    if (globals) samples_.set_globals(samples_.label_ids(std::vector{label}).front(), *globals);
  }
  for (const auto& [digest, before] : step.samples) {
    if (!samples_.is_here(digest)) continue;
    const auto put_back = ours.samples.find(digest);
    if (put_back == ours.samples.end() && before) {
      undone.kept.push_back(digest);
      continue;
    }
    const auto now = samples_.labels_of(samples_.id_of(digest));
    undone.labels.insert(undone.labels.end(), now.begin(), now.end());
    if (before) {
      undone.restored += samples_.put_labels(change.sides, digest, *put_back->second) ? 1 : 0;
    } else {
      samples_.forget(change, digest);
      ++undone.forgotten;
    }
  }
  change.sides.settle();
  for (const auto& [label, globals] : ours.labels)
    if (!globals) samples_.remove_if_bare(label);
}

// The new name is the one that was not there.
void Steps::undo_rename(const LabelStep& step) {
  std::string old_name, new_name;
  for (const auto& [label, globals] : step.labels) (globals ? old_name : new_name) = label;
  samples_.rename(new_name, old_name);
}

}  // namespace moil::data
