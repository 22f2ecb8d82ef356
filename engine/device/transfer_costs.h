// What it takes to hand a range over, measured.
#pragma once

#include <cstddef>

namespace moil {

class Processor;

// seconds + bytes * seconds_per_byte.
struct TransferCost {
  double seconds = 0, seconds_per_byte = 0;
  double of(std::size_t bytes) const {
    return seconds + static_cast<double>(bytes) * seconds_per_byte;
  }
};

// What contents cost; both halves of a hand-over, mapping or copying.
struct TransferCosts {
  bool shares_memory = true;
  TransferCost take, give;  // to the processor, to the host
};

// Medians of transfers of a few sizes. Throws ProcessorError if the device fails.
[[nodiscard]] TransferCosts measure_transfers(Processor& processor);

}  // namespace moil
