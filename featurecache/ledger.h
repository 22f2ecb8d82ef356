// The table of models: who owns how many entries and bytes, and when it was last used.
//
// A Ledger lives within one transaction: it reads the (small) table, is told of every entry that
// comes or goes, and writes the changed records in the same transaction, so that counts and entries
// never disagree after a crash. One thread.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <map>
#include <string>

#include "featurecache/key.h"
#include "featurecache/tables.h"

namespace moil::cache {

struct ModelRecord {
  std::int64_t created = 0;    // seconds since 1970
  std::int64_t last_used = 0;  // the same
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  // what the entries occupy: charge() of each
  std::string description;
};

class Ledger {
 public:
  // Records whose checksum is wrong are left out, and counted.
  Ledger(const Environment& env, MDB_txn* txn, const Tables& tables);

  const std::map<ModelId, ModelRecord>& models() const { return models_; }
  std::uint64_t total_bytes() const { return total_bytes_; }
  std::uint64_t damaged_records() const { return damaged_; }

  // The record, created if it is missing, with last_used = now. To change it: replace().
  const ModelRecord& touch(const ModelId& id, std::int64_t now);
  void replace(const ModelId& id, ModelRecord record);
  void erase(const ModelId& id);

  void add(const ModelId& id, std::uint64_t bytes);
  void subtract(const ModelId& id, std::uint64_t bytes);

  // Writes what changed; needs a write transaction.
  void save();

 private:
  const Environment& env_;
  MDB_txn* txn_;
  const Tables& tables_;
  std::map<ModelId, ModelRecord> models_;
  std::map<ModelId, bool> changed_;  // true: written by save(), false: removed
  std::uint64_t total_bytes_ = 0;
  std::uint64_t damaged_ = 0;
};

// What an entry occupies in the data file: whole pages if LMDB gives the value pages of its own
// (above about half a page), otherwise its share of a leaf page.
std::uint64_t charge(std::uint64_t value_bytes, std::uint64_t page_bytes,
                     std::uint64_t key_bytes = EncodedKey::kWhole);

}  // namespace moil::cache
