#include "daemon/state/schema.h"

#include <array>
#include <string>

#include "base/error.h"

namespace moil::daemon {
namespace {

// Element i brings the database from version i to i + 1. Released elements never change.
constexpr std::array<const char*, kSchemaVersion> kMigrations = {
    R"sql(
CREATE TABLE jobs (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  name            TEXT NOT NULL,
  model           TEXT NOT NULL,
  spec            TEXT NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed',
                                                 'cancelled', 'rejected-by-guard')),
  ignore_window   INTEGER NOT NULL,
  cancelling      INTEGER NOT NULL DEFAULT 0,
  submitted_at    INTEGER NOT NULL,
  started_at      INTEGER,
  finished_at     INTEGER,
  not_before      INTEGER NOT NULL DEFAULT 0,
  attempts        INTEGER NOT NULL DEFAULT 0,
  failures        INTEGER NOT NULL DEFAULT 0,
  base_version    INTEGER,
  version         INTEGER,
  message         TEXT NOT NULL DEFAULT '',
  result          TEXT
);
CREATE INDEX jobs_by_state ON jobs (state, id);

CREATE TABLE events (
  job   INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  seq   INTEGER NOT NULL,
  at    INTEGER NOT NULL,
  body  TEXT NOT NULL,
  PRIMARY KEY (job, seq)
) WITHOUT ROWID;

CREATE TABLE versions (
  model       TEXT NOT NULL,
  version     INTEGER NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('incoming', 'ready')),
  active      INTEGER NOT NULL DEFAULT 0 CHECK (active = 0 OR state = 'ready'),
  created_at  INTEGER NOT NULL,
  parent      INTEGER,
  job         INTEGER REFERENCES jobs (id),
  summary     TEXT NOT NULL DEFAULT '',
  metrics     TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (model, version),
  FOREIGN KEY (model, parent) REFERENCES versions (model, version)
) WITHOUT ROWID;
CREATE UNIQUE INDEX one_active_version ON versions (model) WHERE active = 1;
)sql",
    // A result without its details, which may be megabytes.
    R"sql(
ALTER TABLE jobs ADD COLUMN summary TEXT;
UPDATE jobs SET summary = json_remove(result, '$.details') WHERE json_valid(result);
)sql",
    R"sql(
ALTER TABLE versions ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
CREATE TABLE version_samples (
  model    TEXT NOT NULL,
  version  INTEGER NOT NULL,
  digest   BLOB NOT NULL CHECK (length(digest) = 16),
  PRIMARY KEY (model, version, digest),
  FOREIGN KEY (model, version) REFERENCES versions (model, version) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX version_samples_by_digest ON version_samples (digest);
CREATE TABLE removed_versions (
  model    TEXT PRIMARY KEY,
  version  INTEGER NOT NULL
) WITHOUT ROWID;
)sql",
    R"sql(
CREATE TABLE result_lists (
  job   INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  list  TEXT NOT NULL,
  seq   INTEGER NOT NULL,
  body  TEXT NOT NULL
);
CREATE UNIQUE INDEX result_lists_by_place ON result_lists (job, list, seq);
)sql",
    R"sql(
CREATE TABLE anchors (
  model    TEXT PRIMARY KEY,
  version  INTEGER NOT NULL,
  FOREIGN KEY (model, version) REFERENCES versions (model, version)
) WITHOUT ROWID;
)sql",
    R"sql(
ALTER TABLE jobs ADD COLUMN schedule TEXT;
ALTER TABLE jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
CREATE TABLE schedules (
  name         TEXT PRIMARY KEY,
  priority     INTEGER NOT NULL,
  description  TEXT NOT NULL,
  enabled      INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  last_due     INTEGER,
  last_job     INTEGER REFERENCES jobs (id) ON DELETE SET NULL,
  labels_seen  INTEGER NOT NULL DEFAULT 0,
  pack_seen    TEXT NOT NULL DEFAULT '',
  remark       TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
)sql",
    R"sql(
ALTER TABLE versions ADD COLUMN made_by INTEGER;
UPDATE versions SET made_by = job;
ALTER TABLE versions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN provenance TEXT;
ALTER TABLE versions ADD COLUMN label_scores TEXT;
CREATE TABLE withdrawals (
  model    TEXT NOT NULL,
  version  INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  cause    TEXT NOT NULL CHECK (cause IN ('user', 'canary')),
  why      TEXT NOT NULL,
  weights  TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (model, version)
) WITHOUT ROWID;
CREATE TABLE canaries (
  model    TEXT PRIMARY KEY,
  version  INTEGER NOT NULL,
  parent   INTEGER NOT NULL,
  rule     TEXT NOT NULL,
  since    INTEGER NOT NULL,
  seen     INTEGER NOT NULL,
  FOREIGN KEY (model, version) REFERENCES versions (model, version) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE canary_samples (
  model    TEXT NOT NULL REFERENCES canaries (model) ON DELETE CASCADE,
  digest   BLOB NOT NULL CHECK (length(digest) = 16),
  verdict  TEXT NOT NULL CHECK (verdict IN ('waits', 'worse', 'better', 'neither')),
  PRIMARY KEY (model, digest)
) WITHOUT ROWID;
)sql",
};

}  // namespace

void prepare_database(Database& database) {
  database.run(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; "
      "PRAGMA secure_delete = ON;");
  const auto version = database.number("PRAGMA user_version");
  if (version > kSchemaVersion) {
    throw Error(ErrorCode::kUnimplemented,
                "the state was written by a newer moild (format " + std::to_string(version) +
                    ", this one knows up to " + std::to_string(kSchemaVersion) +
                    "); install that version or give another --state-dir");
  }
  for (auto next = version; next < kSchemaVersion; ++next) {
    Transaction transaction(database, Transaction::Kind::kWrite);
    database.run(kMigrations.at(static_cast<std::size_t>(next)));
    database.run(("PRAGMA user_version = " + std::to_string(next + 1)).c_str());
    transaction.commit();
  }
  // Into the file itself, in whose header a package of an older moild looks for the version.
  if (version < kSchemaVersion) database.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace moil::daemon
