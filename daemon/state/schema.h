// The daemon's tables and their history (moild.db).
//
//   version 1  jobs, events, versions
//   version 2  jobs.summary
//   version 3  version_samples, versions.forgotten, removed_versions
//   version 4  result_lists
//   version 5  anchors
//   version 6  schedules, jobs.schedule, jobs.priority
//   version 7  versions.made_by, versions.pinned, versions.provenance, versions.label_scores,
//              withdrawals, canaries, canary_samples
//
// jobs      one row a submitted job; `spec` and `result` are JSON
// events    what a job's watchers saw, by (job, seq): state changes, stages, curve points
// versions  model versions; 'incoming' while a worker may be writing one, 'ready' when recorded;
//           at most one of a model is active; `forgotten` of the samples that one learned from have
//           been forgotten since
// version_samples   samples of the label store that a version learned from (version_samples.h)
// removed_versions  the highest number of a model that was removed: numbers are not used twice
// result_lists      items of lists that are too long to be kept in a job's result, by (job, list,
//                   seq); `list` is a JSON pointer into the result, `seq` counts from 0
// anchors           versions that the user named, which no night may fall far behind; at most one
//                   of a model
// schedules         recurring nights (schedule_store.h)
// withdrawals       versions that were rolled back from; `weights` is the digest of their weights,
//                   empty if it is not known. A row outlives its version (withdrawals.h)
// canaries          promoted versions that are held against what users label since, at most one
//                   of a model (canary_store.h); canary_samples has what was found
//
// A version's `job` is the one that made it while that is kept, `made_by` its number for good.
//
// All times are milliseconds since 1970, UTC.
#pragma once

#include "base/sqlite/database.h"

namespace moil::daemon {

inline constexpr int kSchemaVersion = 7;

// Sets the pragmas (WAL, synchronous=FULL, foreign keys, secure deletion) and migrates, each
// version in its own transaction: a migration that fails leaves the data as they were.
// kUnimplemented if the file was written by a newer moild.
void prepare_database(Database& database);

}  // namespace moil::daemon
