#include "datasets/labels/schema.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "datasets/identity/split.h"
#include "datasets/labels/text.h"

namespace moil::data {
namespace {

// From one version to the next: statements, then what only code can do.
struct Migration {
  const char* sql;
  void (*code)(Database&) = nullptr;
};

using NamedId = std::pair<std::int64_t, std::string>;

std::vector<NamedId> all_labels(const Database& database) {
  std::vector<NamedId> labels;
  Statement select(database, "SELECT id, name FROM labels ORDER BY id");
  while (select.step()) labels.emplace_back(select.integer(0), select.text(1));
  return labels;
}

// Samples and map of a label go to another.
void merge_label(Database& database, std::int64_t from, std::int64_t into) {
  for (const char* sql :
       {"INSERT OR IGNORE INTO sample_labels SELECT sample_id, ?1 FROM sample_labels "
        "WHERE label_id = ?2",
        "INSERT OR IGNORE INTO reconciliation SELECT ?1, global_label FROM reconciliation "
        "WHERE label_id = ?2"}) {
    Statement(database, sql).bind(into).bind(from).run();
  }
  Statement(database, "DELETE FROM sample_labels WHERE label_id = ?").bind(from).run();
  Statement(database, "DELETE FROM labels WHERE id = ?").bind(from).run();
}

// What may not be in a name any more is marked where it stood.
void make_names_normal(Database& database) {
  for (const auto& [id, name] : all_labels(database)) {
    const std::string now = normal(trimmed(shown(name)));
    if (now == name || now.empty()) continue;
    Statement same(database, "SELECT id FROM labels WHERE name = ?");
    if (same.bind(now).step()) {
      merge_label(database, id, same.integer(0));
    } else {
      Statement(database, "UPDATE labels SET name = ? WHERE id = ?").bind(now).bind(id).run();
    }
  }
}

// A recording draws for its pieces, the sample with the first digest for another scene.
void draw_for_all(Database& database) {
  Statement select(database,
                   "SELECT id, coalesce(recording, CASE scene WHEN 0 THEN digest ELSE (SELECT "
                   "min(digest) FROM samples AS it WHERE it.scene = samples.scene) END) "
                   "FROM samples ORDER BY id");
  std::vector<std::pair<std::int64_t, std::int64_t>> draws;
  while (select.step())
    draws.emplace_back(select.integer(0), draw_of(Digest::from_bytes(select.blob(1))));
  select.reset();
  Statement update(database, "UPDATE samples SET draw = ? WHERE id = ?");
  for (const auto& [id, draw] : draws) update.bind(draw).bind(id).run();
  database.run(
      "UPDATE sample_labels SET rank = (SELECT draw + CASE WHEN split = 0 AND (used = 1 OR "
      "split_chosen = 1) THEN 9007199254740992 ELSE 0 END FROM samples WHERE id = sample_id)");
}

// kMigrations[v] leads from version v to v + 1. Never edited once released: add a new one.
constexpr Migration kMigrations[] = {
    {R"sql(
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
    )sql"},
    {R"sql(
    ALTER TABLE samples ADD COLUMN name TEXT NOT NULL DEFAULT '';
    CREATE TABLE forgetting (
      digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 16),
      name TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 2;
    )sql",
     make_names_normal},
    // Nights may have trained on whatever is there.
    {R"sql(
    ALTER TABLE samples ADD COLUMN likeness BLOB                  -- NULL: nobody looked yet
      CHECK (likeness IS NULL OR length(likeness) IN (0, 16));    -- empty: there is none
    ALTER TABLE samples ADD COLUMN scene INTEGER NOT NULL DEFAULT 0;  -- of the first sample in it
    ALTER TABLE samples ADD COLUMN used INTEGER NOT NULL DEFAULT 0 CHECK (used IN (0, 1));
    UPDATE samples SET used = 1;
    CREATE INDEX samples_by_scene ON samples (scene) WHERE scene <> 0;
    PRAGMA user_version = 3;
    )sql"},
    {R"sql(
    CREATE TABLE steps (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,               -- seconds since 1970
      kind TEXT NOT NULL,
      name TEXT NOT NULL                 -- the client's; empty: a call of its own
    ) STRICT;
    CREATE TABLE step_samples (
      step_id INTEGER NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
      digest BLOB NOT NULL CHECK (length(digest) = 16),
      labels TEXT,                       -- before, a name a line; NULL: it was not there
      PRIMARY KEY (step_id, digest)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX step_samples_by_digest ON step_samples (digest);
    CREATE TABLE step_labels (
      step_id INTEGER NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      globals TEXT,                      -- before, a name a line; NULL: it was not there
      PRIMARY KEY (step_id, name)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 4;
    )sql"},
    // Only sounds' pieces had a likeness among sounds: their recording's digest. Nights may have
    // trained on whatever has a label. What a step did not change, it does not undo.
    {R"sql(
    ALTER TABLE samples ADD COLUMN recording BLOB               -- the digest of what it is cut from
      CHECK (recording IS NULL OR length(recording) = 16);
    ALTER TABLE samples ADD COLUMN draw INTEGER NOT NULL DEFAULT 0;       -- sides.h
    ALTER TABLE samples ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;    -- when its labels, or what
                                                    -- they mean, last did; drawn as its id is
    ALTER TABLE samples ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0;  -- when its labels did
    ALTER TABLE sample_labels ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;  -- sides.h
    ALTER TABLE labels ADD COLUMN to_learn INTEGER NOT NULL DEFAULT 0;  -- the sample that the label
    ALTER TABLE labels ADD COLUMN to_judge INTEGER NOT NULL DEFAULT 0;  -- needs; 0: none
    UPDATE samples SET recording = likeness, likeness = NULL
      WHERE media_type LIKE 'audio/%' AND length(likeness) = 16;
    UPDATE samples SET used = 1 WHERE id IN (SELECT sample_id FROM sample_labels);
    DELETE FROM step_labels WHERE globals IS NOT NULL AND name IN (SELECT name FROM labels)
      AND step_id IN (SELECT id FROM steps WHERE kind IN ('add', 'assign', 'relabel'));
    DROP INDEX sample_labels_by_label;
    CREATE INDEX sample_labels_by_rank ON sample_labels (label_id, rank, sample_id);
    CREATE INDEX samples_by_recording ON samples (recording) WHERE recording IS NOT NULL;
    CREATE INDEX samples_by_change ON samples (changed) WHERE changed <> 0;
    PRAGMA user_version = 5;
    )sql",
     draw_for_all},
    {R"sql(
    ALTER TABLE samples ADD COLUMN used_split INTEGER CHECK (used_split IN (0, 1));  -- NULL: none
    UPDATE samples SET used_split = split WHERE used = 1;
    PRAGMA user_version = 6;
    )sql"},
};
static_assert(std::size(kMigrations) == kLabelSchemaVersion);

[[noreturn]] void refuse(std::int64_t found) {
  throw Error(ErrorCode::kUnimplemented,
              "the label store is of version " + std::to_string(found) + ", this build reads " +
                  std::to_string(kLabelSchemaVersion) + "; install the moild that wrote it");
}

}  // namespace

void migrate_label_schema(Database& database) {
  bool migrated = false;
  for (;; migrated = true) {
    Transaction transaction(database, Transaction::Kind::kWrite);
    const std::int64_t version = database.number("PRAGMA user_version");
    if (version < 0 || version > kLabelSchemaVersion) refuse(version);
    if (version == kLabelSchemaVersion) break;
    const Migration& next = kMigrations[version];
    database.run(next.sql);
    if (next.code != nullptr) next.code(database);
    transaction.commit();
  }
  // Into the file itself, in whose header a package of an older moild looks for the version.
  if (migrated) database.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

void check_label_schema(const Database& database) {
  const std::int64_t version = database.number("PRAGMA user_version");
  if (version != kLabelSchemaVersion) refuse(version);
}

}  // namespace moil::data
