// How much of the global pack a night mixes in.
#pragma once

#include <cstddef>

#include "daemon/spec/job_spec.h"

namespace moil::night {

// GDM's share. If the job leaves it open: all of the pack, up to as many samples as local ones that
// are trained on, and a thousand at least. Pure.
[[nodiscard]] daemon::GlobalSpec global_share(const daemon::JobSpec& spec, std::size_t local);

}  // namespace moil::night
