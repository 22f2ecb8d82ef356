// The store's steps: several labels changed at once, and what was done last undone.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "datasets/labels/label_store.h"
#include "datasets/labels/text.h"

namespace moil::data {

std::size_t LabelStore::assign(std::span<const Digest> samples, std::span<const std::string> labels,
                               std::string_view step) {
  const auto names = labels.empty() ? std::vector<std::string>{} : checked_label_names(labels);
  const std::lock_guard guard(mutex_);
  Change change(*this);
  const std::int64_t noted = begin_step("assign", step);
  note_new_labels(noted, names);
  std::size_t changed = 0;
  for (const Digest& digest : samples)
    changed += set_labels(change.sides, noted, digest, names) ? 1 : 0;
  if (changed == 0) return 0;  // no step of it
  change.commit();
  return changed;
}

std::size_t LabelStore::merge_label(const std::string& from, const std::string& into,
                                    std::string_view step) {
  const auto target = checked_label_names(std::span(&into, 1)).front();
  const std::lock_guard guard(mutex_);
  Change change(*this);
  const std::string source = normal(from);
  const std::int64_t gone = existing_label_id(source);
  if (source == target)
    throw Error(ErrorCode::kInvalidArgument,
                "the label '" + source + "' is to be merged into itself");
  const std::int64_t noted = begin_step("merge", step);
  note_labels(noted, std::vector{source, target});
  const std::int64_t kept = label_ids(std::vector{target}).front();
  std::size_t moved = 0;
  for (const Digest& digest : carriers_of(gone)) {
    auto labels = labels_of(sample_id(digest));
    std::erase(labels, source);
    if (std::ranges::find(labels, target) == labels.end()) labels.push_back(target);
    moved += set_labels(change.sides, noted, digest, labels) ? 1 : 0;
  }
  Statement(database_,
            "INSERT OR IGNORE INTO reconciliation SELECT ?, global_label FROM reconciliation "
            "WHERE label_id = ?")
      .bind(kept)
      .bind(gone)
      .run();
  if (globals_of(source) != std::vector<std::string>{}) note_other_meaning(kept);
  change.sides.settle();
  Statement(database_, "DELETE FROM labels WHERE id = ?").bind(gone).run();
  change.commit();
  return moved;
}

UndoneStep LabelStore::undo(std::string_view step, bool with_samples) {
  const std::lock_guard guard(mutex_);
  Change change(*this);
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
  if (undone.forgotten > 0 && !with_samples) throw WouldForget(undone.kind, undone.forgotten);
  change.commit();
  if (undone.forgotten > 0) wipe();
  return undone;
}

void LabelStore::take_back(Change& change, const LabelStep& step, UndoneStep& undone) {
  const LabelStep ours = journal_.take_out(step);
  if (step.kind == "rename") undo_rename(ours);
  for (const auto& [label, globals] : ours.labels) {
    undone.labels.push_back(label);
    if (globals) set_globals(label_ids(std::vector{label}).front(), *globals);
  }
  for (const auto& [digest, before] : step.samples) {
    if (!is_here(digest)) continue;
    const auto put_back = ours.samples.find(digest);
    if (put_back == ours.samples.end() && before) {
      undone.kept.push_back(digest);
      continue;
    }
    const auto now = labels_of(sample_id(digest));
    undone.labels.insert(undone.labels.end(), now.begin(), now.end());
    if (before) {
      undone.restored += put_labels(change.sides, digest, *put_back->second) ? 1 : 0;
    } else {
      forget_sample(change, digest);
      ++undone.forgotten;
    }
  }
  change.sides.settle();
  for (const auto& [label, globals] : ours.labels)
    if (!globals) remove_if_bare(label);
}

// The new name is the one that was not there.
void LabelStore::undo_rename(const LabelStep& step) {
  std::string old_name, new_name;
  for (const auto& [label, globals] : step.labels) (globals ? old_name : new_name) = label;
  Statement(database_, "UPDATE labels SET name = ? WHERE name = ?")
      .bind(std::string_view(old_name))
      .bind(std::string_view(new_name))
      .run();
}

std::int64_t LabelStore::begin_step(std::string_view kind, std::string_view name) {
  return journal_.begin(kind, name, now_seconds());
}

void LabelStore::note_labels(std::int64_t step, std::span<const std::string> names) {
  for (const std::string& name : names) journal_.note(step, name, globals_of(name));
}

// Notes which of the names are of no label yet.
void LabelStore::note_new_labels(std::int64_t step, std::span<const std::string> names) {
  for (const std::string& name : names)
    if (!globals_of(name)) journal_.note(step, name, std::nullopt);
}

std::optional<std::vector<std::string>> LabelStore::globals_of(const std::string& label) const {
  Statement known(database_, "SELECT id FROM labels WHERE name = ?");
  if (!known.bind(std::string_view(label)).step()) return std::nullopt;
  Statement select(database_,
                   "SELECT global_label FROM reconciliation WHERE label_id = ? "
                   "ORDER BY global_label");
  select.bind(known.integer(0));
  std::vector<std::string> globals;
  while (select.step()) globals.push_back(select.text(0));
  return globals;
}

void LabelStore::set_globals(std::int64_t label, std::span<const std::string> globals) {
  Statement(database_, "DELETE FROM reconciliation WHERE label_id = ?").bind(label).run();
  Statement insert(database_, "INSERT INTO reconciliation VALUES (?, ?)");
  for (const auto& global : globals) insert.bind(label).bind(std::string_view(global)).run();
  note_other_meaning(label);
}

std::vector<Digest> LabelStore::carriers_of(std::int64_t label) const {
  Statement select(database_,
                   "SELECT digest FROM samples JOIN sample_labels ON sample_id = id "
                   "WHERE label_id = ? ORDER BY id");
  select.bind(label);
  std::vector<Digest> carriers;
  while (select.step()) carriers.push_back(Digest::from_bytes(select.blob(0)));
  return carriers;
}

bool LabelStore::set_labels(Sides& sides, std::int64_t step, const Digest& digest,
                            std::span<const std::string> names) {
  const auto before = labels_of(sample_id(digest));
  if (!put_labels(sides, digest, names)) return false;
  journal_.note(step, digest, before);
  return true;
}

// False where it has these already. A sample that gets its first label is as new as one that is
// added: whoever looks for new labels by the id finds it.
bool LabelStore::put_labels(Sides& sides, const Digest& digest,
                            std::span<const std::string> names) {
  std::int64_t sample = sample_id(digest);
  const auto before = labels_of(sample);
  if (std::ranges::is_permutation(before, names)) return false;
  for (const std::int64_t label : label_ids_of(sample)) sides.label_changed(label);
  Statement(database_, "DELETE FROM sample_labels WHERE sample_id = ?").bind(sample).run();
  if (before.empty())
    sample = make_newest(sample);
  else
    note_correction(sample);
  attach(sides, sample, label_ids(names));
  return true;
}

std::int64_t LabelStore::make_newest(std::int64_t sample) {
  const std::int64_t newest = next_number();
  Statement(database_, "UPDATE samples SET id = ? WHERE id = ?").bind(newest).bind(sample).run();
  return newest;
}

// Of the numbers that ids are of: so that one can be told from which on samples are new or changed.
std::int64_t LabelStore::next_number() {
  const std::int64_t next =
      database_.number("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'samples'") +
      1;
  Statement(database_, "UPDATE sqlite_sequence SET seq = ? WHERE name = 'samples'")
      .bind(next)
      .run();
  return next;
}

void LabelStore::note_correction(std::int64_t sample) {
  Statement(database_, "UPDATE samples SET changed = ?1, corrected = ?1 WHERE id = ?2")
      .bind(next_number())
      .bind(sample)
      .run();
}

// What is right of its samples may be another name.
void LabelStore::note_other_meaning(std::int64_t label) {
  Statement select(database_, "SELECT sample_id FROM sample_labels WHERE label_id = ?");
  select.bind(label);
  std::vector<std::int64_t> samples;
  while (select.step()) samples.push_back(select.integer(0));
  for (const std::int64_t sample : samples)
    Statement(database_, "UPDATE samples SET changed = ? WHERE id = ?")
        .bind(next_number())
        .bind(sample)
        .run();
}

void LabelStore::remove_if_bare(const std::string& label) {
  Statement(database_,
            "DELETE FROM labels WHERE name = ? AND id NOT IN (SELECT label_id FROM sample_labels)")
      .bind(std::string_view(label))
      .run();
}

}  // namespace moil::data
