#include "featurecache/tables.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.h"
#include "featurecache/discard.h"

namespace moil::cache {
namespace {

constexpr char kMagic[8] = {'M', 'O', 'I', 'L', 'F', 'E', 'A', 'T'};
constexpr std::uint32_t kByteOrder = 0x01020304;

struct VersionRecord {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;
  std::int64_t created;  // seconds since 1970
};
static_assert(sizeof(VersionRecord) == 24);

MDB_val format_key() {
  static char key[] = "format";
  return {sizeof key - 1, key};
}

[[noreturn]] void refuse(const Environment& env, ErrorCode code, const std::string& why) {
  throw Unusable(code, "cannot open the feature cache " + env.folder().string() + ": " + why +
                           "; delete the folder to begin afresh: everything in it can be computed "
                           "again");
}

void check_version(const Environment& env, const MDB_val& value) {
  VersionRecord record{};
  if (value.mv_size != sizeof record) refuse(env, ErrorCode::kBadData, "bad version record");
  std::memcpy(&record, value.mv_data, sizeof record);
  if (std::memcmp(record.magic, kMagic, sizeof kMagic) != 0) {
    refuse(env, ErrorCode::kBadData, "bad version record");
  }
  if (record.byte_order != kByteOrder) {
    refuse(env, ErrorCode::kFailedPrecondition, "written on a machine of other byte order");
  }
  if (record.version != kFormatVersion) {
    refuse(env, ErrorCode::kFailedPrecondition,
           "format version " + std::to_string(record.version) + ", this program reads version " +
               std::to_string(kFormatVersion));
  }
}

void put_version(const Environment& env, MDB_txn* txn, MDB_dbi meta, std::int64_t now) {
  VersionRecord record{{}, kFormatVersion, kByteOrder, now};
  std::memcpy(record.magic, kMagic, sizeof kMagic);
  MDB_val key = format_key();
  MDB_val value{sizeof record, &record};
  env.check(::mdb_put(txn, meta, &key, &value, 0), "create");
}

bool is_empty(const Environment& env, MDB_txn* txn) {
  MDB_dbi main = 0;
  MDB_stat stat{};
  env.check(::mdb_dbi_open(txn, nullptr, 0, &main), "open");
  env.check(::mdb_stat(txn, main, &stat), "open");
  return stat.ms_entries == 0;
}

// The version is looked at before anything else: a later format may have other tables.
Tables open_existing(const Environment& env, MDB_txn* txn) {
  Tables tables;
  const auto open = [&](const char* name, MDB_dbi& table) {
    const int rc = ::mdb_dbi_open(txn, name, 0, &table);
    if (rc == MDB_NOTFOUND || rc == MDB_INCOMPATIBLE) {
      refuse(env, ErrorCode::kBadData, std::string("not a feature cache (no table ") + name + ")");
    }
    env.check(rc, "open");
  };
  open("meta", tables.meta);
  MDB_val key = format_key();
  MDB_val value{};
  const int rc = ::mdb_get(txn, tables.meta, &key, &value);
  if (rc == MDB_NOTFOUND) refuse(env, ErrorCode::kBadData, "no version record");
  env.check(rc, "open");
  check_version(env, value);
  open("models", tables.models);
  open("entries", tables.entries);
  return tables;
}

Tables create(const Environment& env, MDB_txn* txn, std::int64_t now) {
  Tables tables;
  env.check(::mdb_dbi_open(txn, "meta", MDB_CREATE, &tables.meta), "create");
  env.check(::mdb_dbi_open(txn, "models", MDB_CREATE, &tables.models), "create");
  env.check(::mdb_dbi_open(txn, "entries", MDB_CREATE, &tables.entries), "create");
  put_version(env, txn, tables.meta, now);
  return tables;
}

// Handles opened in a read transaction are kept only if that transaction commits.
Tables open_read_only(Environment& env) {
  MDB_txn* txn = nullptr;
  env.check(::mdb_txn_begin(env.get(), nullptr, MDB_RDONLY, &txn), "open");
  try {
    if (is_empty(env, txn)) {
      throw Error(ErrorCode::kNotFound, "the feature cache " + env.folder().string() + " is empty");
    }
    const Tables tables = open_existing(env, txn);
    env.check(::mdb_txn_commit(std::exchange(txn, nullptr)), "open");
    return tables;
  } catch (...) {
    ::mdb_txn_abort(txn);
    throw;
  }
}

}  // namespace

Tables open_tables(Environment& env, std::int64_t now) {
  if (env.read_only()) return open_read_only(env);
  Tables tables;
  env.write([&](MDB_txn* txn) {
    tables = is_empty(env, txn) ? create(env, txn, now) : open_existing(env, txn);
  });
  return tables;
}

}  // namespace moil::cache
