// Every entry read and every count made again.
//
// The values are read in snapshots of some hundred entries, so that a long check neither pins pages
// nor delays a writer that must grow the map; the counts are compared within one snapshot, which
// touches keys and sizes only.
#include <cstring>

#include "featurecache/cache.h"
#include "featurecache/freelist.h"
#include "featurecache/state.h"

namespace moil::cache {
namespace {

constexpr std::size_t kEntriesPerSnapshot = 256;

using RawKey = std::vector<std::uint8_t>;
using Counts = std::map<ModelId, ModelRecord>;

// What is wrong with an entry; empty: nothing.
std::string fault(const MDB_val& key, const MDB_val& value, FeatureKey& decoded) {
  if (!decode(to_span(key), decoded)) return "key of " + std::to_string(key.mv_size) + " bytes";
  if (check_value(encode(decoded), to_span(value))) return {};
  return "checksum or header of the " + std::to_string(value.mv_size) + " byte value is wrong";
}

class Walk {
 public:
  Walk(Environment& env, const Tables& tables, VerifyReport& report)
      : env_(env), tables_(tables), report_(report) {}

  // The next entries in one snapshot; false at the end.
  bool step() {
    const ReadTransaction txn(env_);
    const Cursor cursor(env_, txn.get(), tables_.entries);
    MDB_val key = to_val(last_);
    MDB_val value{};
    int rc =
        ::mdb_cursor_get(cursor.get(), &key, &value, last_.empty() ? MDB_FIRST : MDB_SET_RANGE);
    if (rc == 0 && !last_.empty() && std::ranges::equal(to_span(key), last_)) {
      rc = ::mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT);
    }
    for (std::size_t n = 0; rc == 0; ++n) {
      if (n == kEntriesPerSnapshot) return true;
      look(key, value);
      rc = ::mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT);
    }
    if (rc != MDB_NOTFOUND) env_.fail(rc, "verify");
    return false;
  }

  const std::vector<RawKey>& bad_keys() const { return bad_keys_; }

 private:
  void look(const MDB_val& key, const MDB_val& value) {
    const auto bytes = to_span(key);
    last_.assign(bytes.begin(), bytes.end());
    ++report_.entries;
    env_.touched();
    FeatureKey decoded;
    std::string what = fault(key, value, decoded);
    if (what.empty()) return;
    ++report_.bad_entries;
    bad_keys_.push_back(last_);
    if (report_.bad.size() < VerifyReport::kMaxListed) {
      report_.bad.push_back({decoded, std::move(what)});
    }
  }

  Environment& env_;
  const Tables& tables_;
  VerifyReport& report_;
  RawKey last_;
  std::vector<RawKey> bad_keys_;
};

Counts count(const Environment& env, MDB_txn* txn, const Tables& tables) {
  Counts counts;
  const Cursor cursor(env, txn, tables.entries);
  MDB_val key{};
  MDB_val value{};
  int rc = 0;
  while ((rc = ::mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT)) == 0) {
    FeatureKey decoded;
    env.touched();
    if (!decode(to_span(key), decoded)) continue;
    ModelRecord& record = counts[decoded.model];
    ++record.entries;
    record.bytes += charge(value.mv_size, env.page_bytes(), key.mv_size);
  }
  if (rc != MDB_NOTFOUND) env.fail(rc, "verify");
  return counts;
}

void compare(const Ledger& ledger, const Counts& counts, std::vector<std::string>& problems) {
  if (ledger.damaged_records() != 0) {
    problems.push_back(std::to_string(ledger.damaged_records()) + " damaged model records");
  }
  const auto check = [&](const ModelId& id, const ModelRecord& said, const ModelRecord& found) {
    if (said.entries == found.entries && said.bytes == found.bytes) return;
    problems.push_back("model " + to_hex(id) + ": recorded " + std::to_string(said.entries) +
                       " entries, " + std::to_string(said.bytes) + " bytes; found " +
                       std::to_string(found.entries) + " entries, " + std::to_string(found.bytes) +
                       " bytes");
  };
  for (const auto& [id, record] : ledger.models()) {
    const auto at = counts.find(id);
    check(id, record, at == counts.end() ? ModelRecord{} : at->second);
  }
  for (const auto& [id, record] : counts) {
    if (!ledger.models().contains(id)) check(id, {}, record);
  }
}

// Empties the table of models of what cannot be read; the rest is written anew by the caller.
void drop_damaged_records(const Environment& env, MDB_txn* txn, const Tables& tables) {
  env.check(::mdb_drop(txn, tables.models, 0), "repair");
}

// Only what is still bad: another writer may have replaced it since.
std::uint64_t remove_bad(const Environment& env, MDB_txn* txn, const Tables& tables,
                         const std::vector<RawKey>& keys) {
  std::uint64_t removed = 0;
  for (const RawKey& raw : keys) {
    MDB_val key = to_val(raw);
    MDB_val value{};
    const int rc = ::mdb_get(txn, tables.entries, &key, &value);
    if (rc == MDB_NOTFOUND) continue;
    env.check(rc, "repair");
    FeatureKey decoded;
    if (fault(key, value, decoded).empty()) continue;
    env.check(::mdb_del(txn, tables.entries, &key, nullptr), "repair");
    ++removed;
  }
  return removed;
}

// Counts as found; times and descriptions as recorded, if there is a record.
void rewrite_records(const Environment& env, MDB_txn* txn, const Tables& tables, std::int64_t now) {
  Ledger ledger(env, txn, tables);
  const std::map<ModelId, ModelRecord> recorded = ledger.models();
  drop_damaged_records(env, txn, tables);
  const Counts counts = count(env, txn, tables);
  for (const auto& [id, record] : recorded) {
    ModelRecord fresh = record;
    const auto at = counts.find(id);
    fresh.entries = at == counts.end() ? 0 : at->second.entries;
    fresh.bytes = at == counts.end() ? 0 : at->second.bytes;
    ledger.replace(id, std::move(fresh));
  }
  for (const auto& [id, found] : counts) {
    if (recorded.contains(id)) continue;
    ledger.replace(id, {now, now, found.entries, found.bytes, {}});
  }
  ledger.save();
}

}  // namespace

VerifyReport FeatureCache::verify(bool repair, const Watch& watch) {
  if (repair) state_->require_writable();
  Environment& env = state_->env;
  const Tables& tables = state_->tables;
  const std::uint64_t total = stats().entries;
  VerifyReport report;
  Walk walk(env, tables, report);
  while (walk.step()) watch.step(report.entries, total);
  watch.step(report.entries, report.entries);
  {
    const ReadTransaction txn(env);
    compare(Ledger(env, txn.get(), tables), count(env, txn.get(), tables), report.structure);
  }
  if (!state_->options.read_only) {
    env.look_exclusively([&](MDB_txn*) {
      const ReadTransaction txn(env);
      report.leaked_pages = count_leaked_pages(env, txn, tables);
    });
  }
  if (!repair || report.ok()) return report;
  env.write([&](MDB_txn* txn) {
    report.repaired = remove_bad(env, txn, tables, walk.bad_keys());
    rewrite_records(env, txn, tables, state_->now());
  });
  return report;
}

}  // namespace moil::cache
