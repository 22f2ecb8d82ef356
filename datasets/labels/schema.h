// The label store's tables and their history.
//
//   version 1  labels, samples, sample_labels, reconciliation
//   version 2  samples.name; forgetting: samples of which something may be left outside this store;
//              labels have their normal names (text.h), of which two may have become one
//   version 3  samples.likeness, scene, used
//   version 4  steps, step_samples, step_labels: what can be undone; samples may have no label
//   version 5  samples.recording, draw, changed, corrected; sample_labels.rank; labels.to_learn,
//              to_judge: sides of the split follow from content, and labels' changes are told
//   version 6  samples.used_split: on which side a night used it, wherever it lies meanwhile
#pragma once

#include "base/sqlite/database.h"

namespace moil::data {

inline constexpr int kLabelSchemaVersion = 6;

// Brings the database to kLabelSchemaVersion, each version in its own transaction: a migration that
// fails leaves the data as they were. kUnimplemented if the file is of a newer version.
void migrate_label_schema(Database& database);

// For a reader, which may not migrate: kUnimplemented unless the version is ours.
void check_label_schema(const Database& database);

}  // namespace moil::data
