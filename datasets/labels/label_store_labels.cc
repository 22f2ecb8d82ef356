// The label side of the store: labels, which samples carry them, and the map to global labels.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "datasets/labels/label_store.h"
#include "datasets/labels/text.h"

namespace moil::data {
namespace {

constexpr const char* kTrained =
    "SELECT count(*) FROM sample_labels JOIN samples ON samples.id = sample_id "
    "WHERE label_id = ? AND split = 0";
constexpr const char* kHeldOut =
    "SELECT count(*) FROM sample_labels JOIN samples ON samples.id = sample_id "
    "WHERE label_id = ? AND split = 1";

}  // namespace

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
  Transaction transaction(database_, Transaction::Kind::kWrite);
  const std::int64_t noted = begin_step("relabel", step);
  note_labels(noted, names);
  set_labels(noted, digest, names);
  transaction.commit();
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
  transaction.commit();
}

std::vector<Digest> LabelStore::remove_label(const std::string& name, bool with_samples,
                                             std::string_view step) {
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
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
      forget_sample(digest);
      forgotten.push_back(digest);
    } else {
      set_labels(noted, digest, labels);
    }
  }
  Statement(database_, "DELETE FROM labels WHERE id = ?").bind(label).run();
  transaction.commit();
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
  const std::int64_t id = label_ids(local).front();
  set_globals(id, globals);
  transaction.commit();
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

void LabelStore::attach(std::int64_t sample, std::span<const std::int64_t> labels) {
  Statement insert(database_, "INSERT INTO sample_labels VALUES (?, ?)");
  for (const std::int64_t label : labels) insert.bind(sample).bind(label).run();
  for (const std::int64_t label : labels) hold_one_out(label);
}

bool LabelStore::is_trained(std::int64_t label) const { return count(kTrained, label) > 0; }

Split LabelStore::choose_split(const Digest& digest, std::span<const std::int64_t> labels) const {
  if (split_of(digest, kValidationFraction) == Split::kTrain) return Split::kTrain;
  const bool all_trained =
      std::ranges::all_of(labels, [&](std::int64_t label) { return is_trained(label); });
  return all_trained ? Split::kValidation : Split::kTrain;
}

// Where a label has samples enough and none held out, its newest is, with all of its scene, that no
// night has trained on and that leaves every label something to be learned from.
void LabelStore::hold_one_out(std::int64_t label) {
  const auto wanted = static_cast<std::int64_t>(kSamplesNeedingValidation);
  if (count("SELECT count(*) FROM sample_labels WHERE label_id = ?", label) < wanted) return;
  if (count(kHeldOut, label) > 0) return;
  Statement select(database_,
                   "SELECT id, scene FROM samples JOIN sample_labels ON sample_id = id "
                   "WHERE label_id = ? AND split_chosen = 0 AND used = 0 ORDER BY id DESC");
  select.bind(label);
  std::set<std::int64_t> refused;
  while (select.step()) {
    const std::int64_t sample = select.integer(0), scene = select.integer(1);
    if (refused.contains(scene)) continue;
    if (hold_out(sample, scene)) return;
    if (scene != 0) refused.insert(scene);
  }
}

// False, and nothing is changed, where that may not be.
bool LabelStore::hold_out(std::int64_t sample, std::int64_t scene) {
  const std::string members = scene == 0 ? "id = ?1" : "scene = ?1";
  const std::int64_t key = scene == 0 ? sample : scene;
  const std::string bound =
      "SELECT count(*) FROM samples WHERE split = 0 AND "
      "(used = 1 OR split_chosen = 1) AND " +
      members;
  // Labels of the members that nothing else is trained on with.
  const std::string starved =
      "SELECT count(*) FROM sample_labels AS of_it JOIN samples AS it ON it.id = of_it.sample_id "
      "WHERE it." +
      members +
      " AND NOT EXISTS (SELECT 1 FROM sample_labels JOIN samples ON "
      "samples.id = sample_id WHERE label_id = of_it.label_id AND split = 0 AND NOT samples." +
      members + ")";
  if (count(bound.c_str(), key) > 0 || count(starved.c_str(), key) > 0) return false;
  Statement(database_, "UPDATE samples SET split = 1 WHERE " + members).bind(key).run();
  return true;
}

}  // namespace moil::data
