// Where training and evaluation get their samples from.
#pragma once

#include <cstdint>
#include <span>

namespace moil {

// read() is called from one thread at a time, which may not be the one that trains.
//
// 0 to size() - 1 name the samples. A source may know more indices, such as other views of them:
// training hands read() what the epoch's order names, which is size() entries of any kind.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual std::int64_t size() const = 0;
  // Writes the samples one after the other: inputs in the network's memory order (channels-last),
  // targets as one row of probabilities each. Allocates nothing in a steady state.
  virtual void read(std::span<const std::int64_t> indices, float* inputs, float* targets) = 0;
};

}  // namespace moil
