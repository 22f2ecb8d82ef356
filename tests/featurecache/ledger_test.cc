#include "featurecache/ledger.h"

#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

// The table of docs/cache-format.md, "Map, file, disk, quota".
TEST(Charge, IsTheDocumentedOne) {
  EXPECT_EQ(charge(value_bytes(StoredType::kFp32, 64), 4096), 308u);
  EXPECT_EQ(charge(value_bytes(StoredType::kBf16, 64), 4096), 180u);
  EXPECT_EQ(charge(value_bytes(StoredType::kFp32, 1280), 4096), 8236u);
  EXPECT_EQ(charge(value_bytes(StoredType::kBf16, 1280), 4096), 4140u);
  EXPECT_EQ(charge(value_bytes(StoredType::kFp32, 62720), 4096), 253996u);
  EXPECT_EQ(charge(2004, 4096), 2040u);
  EXPECT_EQ(charge(2000, 4096, EncodedKey::kPart), 2040u);
  EXPECT_EQ(charge(2001, 4096, EncodedKey::kPart), 48u + 4096);
  EXPECT_EQ(charge(2005, 4096), 44u + 4096);
  EXPECT_EQ(charge(4080, 4096), 44u + 4096);
  EXPECT_EQ(charge(4081, 4096), 44u + 8192);
}

// LMDB itself says where it puts a value: the limit must be the one that charge() assumes.
TEST(Charge, AgreesWithLmdbAboutTheLimit) {
  const TempFolder folder;
  Environment env(folder.cache(), 1 << 20, false);
  const Tables tables = open_tables(env, 0);
  for (std::size_t bytes = 1990; bytes < 2020; ++bytes) {
    env.look_exclusively([&](MDB_txn* txn) {
      const EncodedKey name = encode(key_of(1, 1));
      MDB_val key = to_val(name);
      const std::vector<std::uint8_t> content(bytes);
      MDB_val value = to_val(content);
      env.check(::mdb_put(txn, tables.entries, &key, &value, 0), "test");
      MDB_stat stat{};
      env.check(::mdb_stat(txn, tables.entries, &stat), "test");
      const bool own_pages = charge(bytes, env.page_bytes()) > env.page_bytes();
      EXPECT_EQ(stat.ms_overflow_pages, own_pages ? 1u : 0u) << bytes;
    });
  }
}

TEST(Ledger, KeepsTotalsAndRecordsAcrossTransactions) {
  const TempFolder folder;
  Environment env(folder.cache(), 1 << 20, false);
  const Tables tables = open_tables(env, 0);
  env.write([&](MDB_txn* txn) {
    Ledger ledger(env, txn, tables);
    ledger.touch(model(1), 50);
    ledger.add(model(1), 100);
    ledger.add(model(1), 10);
    ledger.add(model(2), 7);
    ledger.subtract(model(1), 100);
    ledger.save();
  });
  env.write([&](MDB_txn* txn) {
    Ledger ledger(env, txn, tables);
    EXPECT_EQ(ledger.total_bytes(), 17u);
    EXPECT_EQ(ledger.models().at(model(1)).entries, 1u);
    EXPECT_EQ(ledger.touch(model(1), 40).last_used, 50) << "a clock set back is no earlier use";
    ledger.subtract(model(2), 1000);
    EXPECT_EQ(ledger.total_bytes(), 10u) << "never below zero";
    ledger.erase(model(1));
    EXPECT_EQ(ledger.total_bytes(), 0u);
  });
}

}  // namespace
}  // namespace moil::cache
