// A made-up processor on memory that nobody else sees: what it was not given it does not have, and
// the host has nothing of what it holds.
#pragma once

#include <memory>

#include "engine/device/processor.h"

namespace moil::test {

// It computes element-wise steps, sums and fully connected layers, and updates weights, by loops.
// A range that it takes is no number to the host until it gives it back, and the other way round.
// std::logic_error for a step on a range that it does not hold.
std::shared_ptr<Processor> make_guarded_processor(bool shares_memory);

}  // namespace moil::test
