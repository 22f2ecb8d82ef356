// The label side of the store: labels, which samples carry them, and the map to global labels.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/label_store.h"
#include "datasets/labels/something_else.h"
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

void LabelStore::check_case(std::span<const std::string> names, const std::string& gone) const {
  const std::lock_guard guard(mutex_);
  std::map<std::string, std::string> fresh;  // by what they are without case
  Statement find(database_, "SELECT 1 FROM labels WHERE name IN (?, ?)");
  for (const std::string& given : names) {
    const std::string name = without_denial(normal(given));
    const bool is_there = find.bind(std::string_view(name)).bind(denial_of(name)).step();
    find.reset();
    if (is_there || name == kSomethingElse) continue;
    const auto [first, is_first] = fresh.emplace(without_case(name), name);
    if (!is_first && first->second != name) throw OtherCase(name, first->second);
  }
  const auto compare = [&](const std::string& label) {
    const auto found = fresh.find(without_case(label));
    if (found != fresh.end() && label != normal(gone)) throw OtherCase(found->second, label);
  };
  if (fresh.empty()) return;
  compare(std::string(kSomethingElse));
  Statement all(database_, "SELECT name FROM labels");
  while (all.step()) compare(without_denial(all.text(0)));
}

void LabelStore::relabel(const Digest& digest, std::span<const std::string> labels,
                         std::string_view step) {
  const auto names = checked_label_names(labels);
  const std::lock_guard guard(mutex_);
  LabelChange change(database_);
  const std::int64_t noted = steps_.begin("relabel", step);
  steps_.note_new_labels(noted, names);
  if (steps_.set_labels(change.sides, noted, digest, names)) commit(change);  // else no step of it
}

std::size_t LabelStore::assign(std::span<const Digest> samples, std::span<const std::string> labels,
                               std::string_view step) {
  const auto names = labels.empty() ? std::vector<std::string>{} : checked_label_names(labels);
  const std::lock_guard guard(mutex_);
  LabelChange change(database_);
  const std::int64_t noted = steps_.begin("assign", step);
  steps_.note_new_labels(noted, names);
  std::size_t changed = 0;
  for (const Digest& digest : samples)
    changed += steps_.set_labels(change.sides, noted, digest, names) ? 1 : 0;
  if (changed == 0) return 0;  // no step of it
  commit(change);
  return changed;
}

namespace {

void require_no_denial(const std::string& name, const char* what) {
  if (is_denial(name))
    throw Error(ErrorCode::kInvalidArgument, "'" + name + "' says what a sample is not, and " +
                                                 what + "; assign samples other labels");
}

// A sample's labels when `source` has become `target`. Who is one of a label that takes another is
// denied neither.
std::vector<std::string> merged(std::vector<std::string> labels, const std::string& source,
                                const std::string& target) {
  const auto has = [&](const std::string& label) { return std::ranges::count(labels, label) > 0; };
  const bool was = has(source);
  std::erase(labels, source);
  if (target == kSomethingElse) {
    if (was && are_denials(labels)) labels = {target};
    return labels;
  }
  if (was && !has(target)) labels.push_back(target);
  const bool denied = has(denial_of(source)) || has(denial_of(target));
  std::erase(labels, denial_of(source));
  std::erase(labels, denial_of(target));
  if (denied && !has(target)) labels.push_back(denial_of(target));
  return labels;
}

}  // namespace

std::size_t LabelStore::merge_label(const std::string& from, const std::string& into,
                                    std::string_view step) {
  const auto target = checked_label_names(std::span(&into, 1)).front();
  const std::lock_guard guard(mutex_);
  LabelChange change(database_);
  const std::string source = normal(from);
  for (const std::string& name : {source, target}) require_no_denial(name, "is merged with none");
  const std::int64_t gone = samples_.existing_label_id(source);
  if (source == target)
    throw Error(ErrorCode::kInvalidArgument,
                "the label '" + source + "' is to be merged into itself");
  const std::int64_t noted = steps_.begin("merge", step);
  steps_.note_labels(noted, std::vector{source, target});
  const std::int64_t kept = samples_.label_ids(std::vector{target}).front();
  std::size_t moved = 0;
  for (const Digest& digest : samples_.carriers_of({source, denial_of(source)})) {
    const auto labels = samples_.labels_of(samples_.id_of(digest));
    moved += steps_.set_labels(change.sides, noted, digest, merged(labels, source, target)) ? 1 : 0;
  }
  if (target != kSomethingElse)
    Statement(database_,
              "INSERT OR IGNORE INTO reconciliation SELECT ?, global_label FROM reconciliation "
              "WHERE label_id = ?")
        .bind(kept)
        .bind(gone)
        .run();
  if (samples_.globals_of(source) != std::vector<std::string>{}) samples_.note_other_meaning(kept);
  change.sides.settle();
  Statement(database_, "DELETE FROM labels WHERE id = ?").bind(gone).run();
  commit(change);
  return moved;
}

void LabelStore::rename_label(const std::string& from, const std::string& to) {
  const auto name = checked_label_names(std::span(&to, 1)).front();
  // The label may stand for others, and its samples may have others, too.
  if (name == kSomethingElse)
    throw Error(ErrorCode::kInvalidArgument,
                "no label is renamed to '" + name + "': label merge gives a label's samples to it");
  for (const std::string& one : {normal(from), name}) require_no_denial(one, "is renamed to none");
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
  const std::int64_t label = samples_.existing_label_id(normal(from));
  Statement taken(database_, "SELECT 1 FROM labels WHERE name = ? AND id <> ?");
  if (taken.bind(name).bind(label).step()) {
    throw Error(ErrorCode::kAlreadyExists, "there is a label '" + name + "' already");
  }
  const std::string old_name = normal(from);
  if (name == old_name) return;
  if (samples_.globals_of(denial_of(name)))
    throw Error(ErrorCode::kAlreadyExists, "there are samples that are said to be not '" + name +
                                               "' already; label merge unites them");
  steps_.note_labels(steps_.begin("rename", {}), std::vector{old_name, name});
  samples_.rename(old_name, name);
  samples_.note_other_meaning(label);
  if (samples_.globals_of(denial_of(name)))
    samples_.note_other_meaning(samples_.existing_label_id(denial_of(name)));
  transaction.commit();
}

std::vector<Digest> LabelStore::remove_label(const std::string& name, bool with_samples,
                                             std::string_view step) {
  const std::lock_guard guard(mutex_);
  LabelChange change(database_);
  const std::string removed = normal(name), denial = denial_of(removed);
  const std::int64_t label = samples_.existing_label_id(removed);
  const std::vector<Digest> carriers = samples_.carriers_of({removed, denial});
  if (!carriers.empty() && !with_samples) {
    throw Error(ErrorCode::kFailedPrecondition,
                "the label '" + name + "' has " + std::to_string(carriers.size()) +
                    " samples; relabel or forget them, or remove it with its samples");
  }
  const std::int64_t noted = steps_.begin("rm", step);
  steps_.note_labels(noted, std::vector{removed});
  std::vector<Digest> forgotten;
  for (const Digest& digest : carriers) {
    auto labels = samples_.labels_of(samples_.id_of(digest));
    std::erase(labels, removed);
    std::erase(labels, denial);
    if (labels.empty()) {
      samples_.forget(change, digest);
      forgotten.push_back(digest);
    } else {
      steps_.set_labels(change.sides, noted, digest, labels);
    }
  }
  change.sides.settle();
  Statement(database_, "DELETE FROM labels WHERE id = ?").bind(label).run();
  commit(change);
  wipe();
  std::ranges::sort(forgotten);
  return forgotten;
}

UndoneStep LabelStore::undo(std::string_view step, bool with_samples) {
  const std::lock_guard guard(mutex_);
  LabelChange change(database_);
  UndoneStep undone = steps_.undo(change, step);
  if (undone.forgotten > 0 && !with_samples) throw WouldForget(undone.kind, undone.forgotten);
  commit(change);
  if (undone.forgotten > 0) wipe();
  return undone;
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
  if (local.front() == kSomethingElse && !global_labels.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "the label '" + local.front() + "' stands for no other label");
  const auto globals =
      global_labels.empty() ? std::vector<std::string>{} : checked_label_names(global_labels);
  require_no_denial(local.front(), "stands for no other label");
  for (const std::string& name : globals) require_no_denial(name, "is stood for by none");
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
  const auto before = samples_.globals_of(local.front());
  if (before == globals) return;
  steps_.note_labels(steps_.begin("map", {}), local);
  samples_.set_globals(samples_.label_ids(local).front(), globals);
  transaction.commit();
}

std::int64_t LabelStore::newest_change() const {
  const std::lock_guard lock(mutex_);
  return database_.number(
      "SELECT max(coalesce((SELECT max(id) FROM samples), 0), "
      "coalesce((SELECT max(changed) FROM samples WHERE changed <> 0), 0))");
}

std::int64_t LabelStore::state_number() const {
  const std::lock_guard lock(mutex_);
  return database_.number("PRAGMA data_version");
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
  const auto number = [&](const std::string& sql) {
    return static_cast<std::uint64_t>(database_.number(sql.c_str()));
  };
  return {number("SELECT count(*) FROM labels WHERE NOT (" + std::string(kIsDenial) + ")"),
          number("SELECT count(*) FROM samples"),
          number("SELECT count(*) FROM samples WHERE id NOT IN (SELECT sample_id FROM "
                 "sample_labels)")};
}

}  // namespace moil::data
