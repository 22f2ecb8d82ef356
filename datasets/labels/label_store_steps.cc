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
  Transaction transaction(database_, Transaction::Kind::kWrite);
  const std::int64_t noted = begin_step("assign", step);
  note_labels(noted, names);
  std::size_t changed = 0;
  for (const Digest& digest : samples) changed += set_labels(noted, digest, names) ? 1 : 0;
  if (changed == 0) return 0;  // no step of it
  transaction.commit();
  return changed;
}

std::size_t LabelStore::merge_label(const std::string& from, const std::string& into,
                                    std::string_view step) {
  const auto target = checked_label_names(std::span(&into, 1)).front();
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
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
    moved += set_labels(noted, digest, labels) ? 1 : 0;
  }
  Statement(database_,
            "INSERT OR IGNORE INTO reconciliation SELECT ?, global_label FROM reconciliation "
            "WHERE label_id = ?")
      .bind(kept)
      .bind(gone)
      .run();
  Statement(database_, "DELETE FROM labels WHERE id = ?").bind(gone).run();
  transaction.commit();
  return moved;
}

UndoneStep LabelStore::undo() {
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
  const auto step = journal_.last();
  if (!step)
    throw Error(ErrorCode::kFailedPrecondition, "there is no change of labels to be undone");
  UndoneStep undone{step->kind, step->at, {}, 0, 0, 0};
  if (step->kind == "rename") undo_rename(*step);
  for (const auto& [label, globals] : step->labels) {
    undone.labels.push_back(label);
    if (globals) set_globals(label_ids(std::vector{label}).front(), *globals);
  }
  for (const auto& [digest, labels] : step->samples) {
    if (!is_here(digest)) continue;
    if (labels) {
      undone.restored += put_labels(digest, *labels) ? 1 : 0;
    } else {
      forget_sample(digest);
      ++undone.forgotten;
    }
  }
  for (const auto& [label, globals] : step->labels)
    if (!globals) remove_if_bare(label);
  journal_.drop(step->id);
  undone.left = journal_.steps();
  transaction.commit();
  if (undone.forgotten > 0) wipe();
  return undone;
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

bool LabelStore::set_labels(std::int64_t step, const Digest& digest,
                            std::span<const std::string> names) {
  journal_.note(step, digest, labels_of(sample_id(digest)));
  return put_labels(digest, names);
}

// False where it has these already. A sample that gets its first label is as new as one that is
// added: whoever looks for new labels by the id finds it.
bool LabelStore::put_labels(const Digest& digest, std::span<const std::string> names) {
  std::int64_t sample = sample_id(digest);
  const auto before = labels_of(sample);
  if (std::ranges::is_permutation(before, names)) return false;
  const auto ids_before = label_ids_of(sample);
  Statement(database_, "DELETE FROM sample_labels WHERE sample_id = ?").bind(sample).run();
  const auto ids = label_ids(names);
  if (before.empty()) sample = make_newest(sample, choose_split(digest, ids));
  attach(sample, ids);
  for (const std::int64_t label : ids_before) hold_one_out(label);
  return true;
}

std::int64_t LabelStore::make_newest(std::int64_t sample, Split split) {
  const std::int64_t newest =
      database_.number("SELECT seq FROM sqlite_sequence WHERE name = 'samples'") + 1;
  Statement(database_,
            "UPDATE samples SET id = ?1, split = CASE WHEN used = 1 OR split_chosen = 1 OR "
            "scene <> 0 THEN split ELSE ?2 END WHERE id = ?3")
      .bind(newest)
      .bind(static_cast<std::int64_t>(split))
      .bind(sample)
      .run();
  Statement(database_, "UPDATE sqlite_sequence SET seq = ? WHERE name = 'samples'")
      .bind(newest)
      .run();
  return newest;
}

void LabelStore::remove_if_bare(const std::string& label) {
  Statement(database_,
            "DELETE FROM labels WHERE name = ? AND id NOT IN (SELECT label_id FROM sample_labels)")
      .bind(std::string_view(label))
      .run();
}

}  // namespace moil::data
