// Batches of one input and one target, for tests.
#pragma once

#include <span>

#include "engine/train/batch_source.h"

namespace moil::test {

// The samples, as many as fill both.
inline void read_plain(BatchSource& source, std::span<const std::int64_t> indices,
                       std::span<float> inputs, std::span<float> targets) {
  const BatchTensor input{"input", inputs.size() / indices.size(), inputs};
  const BatchTensor target{"target", targets.size() / indices.size(), targets};
  source.read(indices, {{&input, 1}, {&target, 1}});
}

}  // namespace moil::test
