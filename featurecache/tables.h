// The databases inside the environment, and the version record (docs/cache-format.md).
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <span>

#include "featurecache/environment.h"

namespace moil::cache {

// History of the format. 1: the first.
inline constexpr std::uint32_t kFormatVersion = 1;

struct Tables {
  MDB_dbi meta = 0;     // "format" -> version record; "reclaimed" -> time of the last reclaim()
  MDB_dbi models = 0;   // model id -> record and description
  MDB_dbi entries = 0;  // encoded key -> value
};

// Opens the tables and checks the version; in an empty environment (not read-only) creates them.
// kFailedPrecondition: written by another version or on a machine of other byte order;
// kBadData: not a feature cache; kNotFound: empty and read-only.
Tables open_tables(Environment& env, std::int64_t now);

inline MDB_val to_val(std::span<const std::uint8_t> bytes) {
  return {bytes.size(), const_cast<std::uint8_t*>(bytes.data())};
}

inline std::span<const std::uint8_t> to_span(const MDB_val& val) {
  return {static_cast<const std::uint8_t*>(val.mv_data), val.mv_size};
}

// Closes at the end of a scope; must be destroyed before its transaction ends.
class Cursor {
 public:
  Cursor(const Environment& env, MDB_txn* txn, MDB_dbi table) {
    env.check(::mdb_cursor_open(txn, table, &cursor_), "read");
  }
  ~Cursor() { ::mdb_cursor_close(cursor_); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  MDB_cursor* get() const { return cursor_; }

 private:
  MDB_cursor* cursor_ = nullptr;
};

}  // namespace moil::cache
