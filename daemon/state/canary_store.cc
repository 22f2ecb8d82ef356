#include "daemon/state/canary_store.h"

#include "daemon/json/parse.h"

namespace moil::daemon {
namespace {

constexpr const char* kCounted =
    "SELECT model, version, parent, rule, seen, "
    "(SELECT count(*) FROM canary_samples s WHERE s.model = c.model AND verdict = 'worse'), "
    "(SELECT count(*) FROM canary_samples s WHERE s.model = c.model AND verdict = 'better'), "
    "(SELECT count(*) FROM canary_samples s WHERE s.model = c.model AND verdict = 'neither'), "
    "(SELECT count(*) FROM canary_samples s WHERE s.model = c.model AND verdict = 'waits') "
    "FROM canaries c ";

const char* name_of(CanaryStore::Verdict verdict) {
  if (verdict == CanaryStore::Verdict::kWorse) return "worse";
  return verdict == CanaryStore::Verdict::kBetter ? "better" : "neither";
}

Canary canary_of(const Statement& row) {
  Canary canary{.model = row.text(0),
                .version = row.integer(1),
                .parent = row.integer(2),
                .rule = read_stored_fields<CanarySpec>(parsed_json(row.text(3))),
                .seen = row.integer(4),
                .worse = row.integer(5),
                .better = row.integer(6),
                .neither = row.integer(7),
                .waiting = row.integer(8)};
  return canary;
}

}  // namespace

Json to_json(const Canary& canary) {
  return {{"parent", canary.parent},   {"rule", write_fields(canary.rule)},
          {"worse", canary.worse},     {"better", canary.better},
          {"neither", canary.neither}, {"waiting", canary.waiting}};
}

void CanaryStore::begin(const Canary& canary, std::int64_t newest_change) {
  end(canary.model);
  Statement insert(db_,
                   "INSERT INTO canaries (model, version, parent, rule, since, seen) "
                   "VALUES (?, ?, ?, ?, ?, ?)");
  insert.bind(std::string_view(canary.model)).bind(canary.version).bind(canary.parent);
  insert.bind(std::string_view(to_line(write_fields(canary.rule))));
  insert.bind(newest_change).bind(newest_change).run();
}

std::vector<Canary> CanaryStore::all() const {
  Statement rows(db_, std::string(kCounted) + "ORDER BY model");
  std::vector<Canary> found;
  while (rows.step()) found.push_back(canary_of(rows));
  return found;
}

std::optional<Canary> CanaryStore::find(const std::string& model) const {
  Statement row(db_, std::string(kCounted) + "WHERE model = ?");
  row.bind(std::string_view(model));
  if (!row.step()) return std::nullopt;
  return canary_of(row);
}

void CanaryStore::end(const std::string& model) {
  Statement remove(db_, "DELETE FROM canaries WHERE model = ?");
  remove.bind(std::string_view(model)).run();
}

void CanaryStore::take(const std::string& model, std::span<const data::SampleChange> changes) {
  if (changes.empty()) return;
  Transaction transaction(db_, Transaction::Kind::kWrite);
  // The canary may have ended meanwhile.
  Statement insert(db_,
                   "INSERT OR REPLACE INTO canary_samples (model, digest, verdict) "
                   "SELECT model, ?2, 'waits' FROM canaries WHERE model = ?1");
  Statement again(db_,
                  "UPDATE canary_samples SET verdict = 'waits' WHERE model = ?1 AND digest = ?2");
  Statement remove(db_, "DELETE FROM canary_samples WHERE model = ?1 AND digest = ?2");
  for (const data::SampleChange& change : changes) {
    Statement& what = !change.is_labelled ? remove : change.has_other_labels ? insert : again;
    what.bind(std::string_view(model)).bind(change.digest.bytes).run();
  }
  Statement update(db_, "UPDATE canaries SET seen = max(seen, ?) WHERE model = ?");
  update.bind(changes.back().number).bind(std::string_view(model)).run();
  transaction.commit();
}

std::vector<data::Digest> CanaryStore::waiting(const std::string& model, int limit) const {
  Statement rows(db_,
                 "SELECT digest FROM canary_samples WHERE model = ? AND verdict = 'waits' "
                 "ORDER BY digest LIMIT ?");
  rows.bind(std::string_view(model)).bind(std::int64_t{limit});
  std::vector<data::Digest> found;
  while (rows.step()) found.push_back(data::Digest::from_bytes(rows.blob(0)));
  return found;
}

void CanaryStore::judge(const std::string& model,
                        std::span<const std::pair<data::Digest, Verdict>> verdicts) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  for (const auto& [sample, verdict] : verdicts) {
    Statement update(db_, "UPDATE canary_samples SET verdict = ? WHERE model = ? AND digest = ?");
    update.bind(std::string_view(name_of(verdict))).bind(std::string_view(model));
    update.bind(sample.bytes).run();
  }
  transaction.commit();
}

}  // namespace moil::daemon
