// The label side of the store: labels, which samples carry them, and the map to global labels.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "datasets/labels/label_store.h"
#include "datasets/labels/text.h"

namespace moil::data {

std::vector<LabelCount> LabelStore::labels() const {
  std::vector<LabelCount> counts;
  for_each_label("", [&](const LabelCount& label) {
    counts.push_back(label);
    return true;
  });
  return counts;
}

void LabelStore::for_each_label(const std::string& after,
                                const std::function<bool(const LabelCount&)>& visit) const {
  const std::lock_guard guard(mutex_);
  // Counted label by label, so that a page costs no more than what it shows.
  Statement select(database_,
                   "SELECT name, (SELECT count(*) FROM sample_labels WHERE label_id = labels.id), "
                   "(SELECT coalesce(sum(split), 0) FROM sample_labels JOIN samples ON "
                   "samples.id = sample_id WHERE label_id = labels.id) "
                   "FROM labels WHERE name > ? ORDER BY name");
  select.bind(std::string_view(after));
  while (select.step()) {
    const LabelCount label{select.text(0), static_cast<std::uint64_t>(select.integer(1)),
                           static_cast<std::uint64_t>(select.integer(2))};
    if (!visit(label)) return;
  }
}

void LabelStore::relabel(const Digest& digest, std::span<const std::string> labels,
                         std::string_view step) {
  const auto names = checked_label_names(labels);
  const std::lock_guard guard(mutex_);
  Change change(*this);
  const std::int64_t noted = begin_step("relabel", step);
  note_new_labels(noted, names);
  if (set_labels(change.sides, noted, digest, names)) change.commit();  // else no step of it
}

void LabelStore::rename_label(const std::string& from, const std::string& to) {
  const auto name = checked_label_names(std::span(&to, 1)).front();
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
  const std::int64_t label = existing_label_id(normal(from));
  Statement taken(database_, "SELECT 1 FROM labels WHERE name = ? AND id <> ?");
  if (taken.bind(name).bind(label).step()) {
    throw Error(ErrorCode::kAlreadyExists, "there is a label '" + name + "' already");
  }
  const std::string old_name = normal(from);
  if (name == old_name) return;
  note_labels(begin_step("rename", {}), std::vector{old_name, name});
  Statement(database_, "UPDATE labels SET name = ? WHERE id = ?").bind(name).bind(label).run();
  note_other_meaning(label);
  transaction.commit();
}

std::vector<Digest> LabelStore::remove_label(const std::string& name, bool with_samples,
                                             std::string_view step) {
  const std::lock_guard guard(mutex_);
  Change change(*this);
  const std::int64_t label = existing_label_id(normal(name));
  const std::int64_t carried =
      count("SELECT count(*) FROM sample_labels WHERE label_id = ?", label);
  if (carried > 0 && !with_samples) {
    throw Error(ErrorCode::kFailedPrecondition,
                "the label '" + name + "' has " + std::to_string(carried) +
                    " samples; relabel or forget them, or remove it with its samples");
  }
  const std::int64_t noted = begin_step("rm", step);
  note_labels(noted, std::vector{normal(name)});
  std::vector<Digest> forgotten;
  for (const Digest& digest : carriers_of(label)) {
    auto labels = labels_of(sample_id(digest));
    std::erase(labels, normal(name));
    if (labels.empty()) {
      forget_sample(change, digest);
      forgotten.push_back(digest);
    } else {
      set_labels(change.sides, noted, digest, labels);
    }
  }
  change.sides.settle();
  Statement(database_, "DELETE FROM labels WHERE id = ?").bind(label).run();
  change.commit();
  wipe();
  std::ranges::sort(forgotten);
  return forgotten;
}

Reconciliation LabelStore::reconciliation() const {
  const std::lock_guard guard(mutex_);
  Statement select(database_,
                   "SELECT name, global_label FROM reconciliation "
                   "JOIN labels ON labels.id = label_id ORDER BY name, global_label");
  Reconciliation map;
  while (select.step()) map[select.text(0)].push_back(select.text(1));
  return map;
}

void LabelStore::set_reconciliation(const std::string& label,
                                    std::span<const std::string> global_labels) {
  const auto local = checked_label_names(std::span(&label, 1));
  const auto globals =
      global_labels.empty() ? std::vector<std::string>{} : checked_label_names(global_labels);
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
  const auto before = globals_of(local.front());
  if (before == globals) return;
  note_labels(begin_step("map", {}), local);
  set_globals(label_ids(local).front(), globals);
  transaction.commit();
}

std::int64_t LabelStore::newest_change() const {
  const std::lock_guard lock(mutex_);
  return database_.number(
      "SELECT max(coalesce((SELECT max(id) FROM samples), 0), "
      "coalesce((SELECT max(changed) FROM samples WHERE changed <> 0), 0))");
}

std::vector<SampleChange> LabelStore::changes(std::int64_t after, std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  Statement select(database_,
                   "SELECT digest, max(id, changed), max(id, corrected), "
                   "EXISTS (SELECT 1 FROM sample_labels WHERE sample_id = id) FROM samples "
                   "WHERE id > ?1 OR (changed > ?1 AND changed <> 0) ORDER BY 2 LIMIT ?2");
  select.bind(after).bind(static_cast<std::int64_t>(limit));
  std::vector<SampleChange> found;
  while (select.step())
    found.push_back({Digest::from_bytes(select.blob(0)), select.integer(1),
                     select.integer(2) > after, select.integer(3) == 1});
  return found;
}

std::int64_t LabelStore::newest_id() const {
  const std::lock_guard lock(mutex_);
  Statement select(database_, "SELECT coalesce(max(id), 0) FROM samples");
  return select.step() ? select.integer(0) : 0;
}

StoreCounts LabelStore::counts() const {
  const std::lock_guard lock(mutex_);
  const auto number = [&](const char* sql) {
    return static_cast<std::uint64_t>(database_.number(sql));
  };
  return {number("SELECT count(*) FROM labels"), number("SELECT count(*) FROM samples"),
          number("SELECT count(*) FROM samples WHERE id NOT IN (SELECT sample_id FROM "
                 "sample_labels)")};
}

std::int64_t LabelStore::count(const char* sql, std::int64_t id) const {
  Statement select(database_, sql);
  return select.bind(id).step() ? select.integer(0) : 0;
}

std::int64_t LabelStore::existing_label_id(const std::string& name) const {
  Statement select(database_, "SELECT id FROM labels WHERE name = ?");
  if (select.bind(name).step()) return select.integer(0);
  throw Error(ErrorCode::kNotFound, "there is no label '" + name + "'");
}

std::vector<std::int64_t> LabelStore::label_ids(std::span<const std::string> names) {
  std::vector<std::int64_t> ids;
  Statement insert(database_, "INSERT OR IGNORE INTO labels (name) VALUES (?)");
  for (const auto& name : names) {
    insert.bind(name).run();
    ids.push_back(existing_label_id(name));
  }
  return ids;
}

std::vector<std::int64_t> LabelStore::label_ids_of(std::int64_t sample) const {
  Statement select(database_, "SELECT label_id FROM sample_labels WHERE sample_id = ?");
  select.bind(sample);
  std::vector<std::int64_t> ids;
  while (select.step()) ids.push_back(select.integer(0));
  return ids;
}

std::vector<std::string> LabelStore::labels_of(std::int64_t sample) const {
  Statement select(database_,
                   "SELECT name FROM sample_labels JOIN labels ON labels.id = label_id "
                   "WHERE sample_id = ? ORDER BY name");
  select.bind(sample);
  std::vector<std::string> names;
  while (select.step()) names.push_back(select.text(0));
  return names;
}

void LabelStore::attach(Sides& sides, std::int64_t sample, std::span<const std::int64_t> labels) {
  Statement insert(database_, std::string("INSERT INTO sample_labels (sample_id, label_id, rank) "
                                          "SELECT id, ?2, ") +
                                  Sides::kRank + " FROM samples WHERE id = ?1");
  for (const std::int64_t label : labels) {
    insert.bind(sample).bind(label).run();
    sides.label_changed(label);
  }
  sides.sample_changed(sample);
}

}  // namespace moil::data
