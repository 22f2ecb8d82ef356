// Judging a model on held-out samples.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/graph/network.h"
#include "engine/train/batch_source.h"

namespace moil {

struct Evaluation {
  std::int64_t samples = 0;
  double accuracy =
      0;  // top-1, a fraction: the class with the largest logit has the largest target
          // (a row without a target, a class that the model lacks, is never right)
};

// Runs every sample of the source once through an inference network whose output 0 is the logits.
// The last batch is filled up and what fills it ignored. 0 samples give accuracy 0. `each`, where
// given, is told of every sample in order whether it was right.
using EachSample = std::function<void(std::int64_t sample, bool right)>;
[[nodiscard]] Evaluation evaluate(Network& network, BatchSource& source,
                                  const EachSample& each = {});

}  // namespace moil
