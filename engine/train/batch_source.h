// Where training and evaluation get their samples from.
#pragma once

#include <cstdint>
#include <span>

#include "engine/train/batch.h"

namespace moil {

// read() is called from one thread at a time, which may not be the one that trains.
//
// 0 to size() - 1 name the samples. A source may know more indices, such as other views of them:
// training hands read() what the epoch's order names, which is size() entries of any kind.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual std::int64_t size() const = 0;
  // Writes the samples as the first rows of each of the batch's tensors. Allocates nothing in a
  // steady state.
  virtual void read(std::span<const std::int64_t> indices, const Batch& batch) = 0;
};

}  // namespace moil
