// Whether a job may be computed by another processor than the CPU, as far as its description and
// what the device shows tell.
//
// Thread-safe.
#pragma once

#include <string>

#include "daemon/spec/job_spec.h"

namespace moil::daemon {

// Elastic training and deadlines time tensors on the CPU, and sums of another processor round
// otherwise.
[[nodiscard]] bool may_be_another_processor(const JobSpec& spec);

// Why no other processor is even opened; empty: one is. If the device shows no GPU, no driver is
// loaded only to say so: it would bring its compiler into memory.
[[nodiscard]] std::string why_cpu(ProcessorUse asked);

// `processors` as the daemon's setting has it, if the job leaves the choice.
void use_processors(JobSpec& spec, ProcessorUse setting);

}  // namespace moil::daemon
