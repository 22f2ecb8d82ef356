#include "datasets/labels/schema.h"

#include <iterator>

#include "base/error.h"

namespace moil::data {
namespace {

// kMigrations[v] leads from version v to v + 1. Never edited once released: add a new one.
constexpr const char* kMigrations[] = {
    R"sql(
    CREATE TABLE labels (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE
    ) STRICT;
    CREATE TABLE samples (
      id INTEGER PRIMARY KEY AUTOINCREMENT,       -- never reused, so that paging by id is stable
      digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 16),
      media_type TEXT NOT NULL,
      size INTEGER NOT NULL CHECK (size > 0),
      content BLOB,                               -- NULL: in the file that the digest names
      added_at INTEGER NOT NULL,                  -- seconds since 1970
      split INTEGER NOT NULL CHECK (split IN (0, 1)),
      split_chosen INTEGER NOT NULL CHECK (split_chosen IN (0, 1)),  -- 1: by the user
      CHECK (content IS NULL OR length(content) = size)
    ) STRICT;
    CREATE TABLE sample_labels (
      sample_id INTEGER NOT NULL REFERENCES samples (id) ON DELETE CASCADE,
      label_id INTEGER NOT NULL REFERENCES labels (id) ON DELETE RESTRICT,
      PRIMARY KEY (sample_id, label_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sample_labels_by_label ON sample_labels (label_id, sample_id);
    CREATE TABLE reconciliation (
      label_id INTEGER NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
      global_label TEXT NOT NULL,
      PRIMARY KEY (label_id, global_label)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 1;
    )sql",
};
static_assert(std::size(kMigrations) == kLabelSchemaVersion);

[[noreturn]] void refuse(std::int64_t found) {
  throw Error(ErrorCode::kFailedPrecondition, "the label store is of version " +
                                                  std::to_string(found) + ", this build reads " +
                                                  std::to_string(kLabelSchemaVersion));
}

}  // namespace

void migrate_label_schema(Database& database) {
  for (;;) {
    Transaction transaction(database, Transaction::Kind::kWrite);
    const std::int64_t version = database.number("PRAGMA user_version");
    if (version < 0 || version > kLabelSchemaVersion) refuse(version);
    if (version == kLabelSchemaVersion) return;
    database.run(kMigrations[version]);
    transaction.commit();
  }
}

void check_label_schema(const Database& database) {
  const std::int64_t version = database.number("PRAGMA user_version");
  if (version != kLabelSchemaVersion) refuse(version);
}

}  // namespace moil::data
