// Which samples of the label store a night works with, as its worker notes them in the job's folder
// before it begins (night/data/mix_record.h, left_out.h).
//
// May be called from any thread, also while the worker writes.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "daemon/spec/state_layout.h"
#include "datasets/identity/digest.h"

namespace moil::daemon {

struct JobSamples {
  std::vector<data::Digest> trained;  // on
  std::vector<data::Digest> others;   // held out, or left out
};

// Empty if the night has not drawn its samples yet, or its note cannot be read (the worker
// begins anew with a damaged one).
[[nodiscard]] JobSamples samples_of_job(const StateLayout& layout, std::int64_t job);

// The jobs whose folders know one of these samples.
[[nodiscard]] std::vector<std::int64_t> jobs_that_know(
    const StateLayout& layout, const std::unordered_set<data::Digest>& samples);

}  // namespace moil::daemon
