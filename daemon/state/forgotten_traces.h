// What jobs keep of samples beyond their nights: names and digests in messages, events and results.
#pragma once

#include <span>

#include "daemon/state/schema.h"
#include "datasets/labels/label_types.h"

namespace moil::daemon {

// Replaces the digests, and the samples' names beside them, by words that tell nothing, and takes
// the samples from lists of results; what is overwritten is erased from the database's file. Loop
// thread only; a transaction of its own.
void remove_traces(Database& database, std::span<const data::ForgottenSample> samples);

}  // namespace moil::daemon
