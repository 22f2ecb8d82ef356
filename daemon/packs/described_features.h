// Features that a classifier's rows describe: what it might read of samples, where there are none.
//
// A feature begins as rectified ones that were pooled are: no element is negative, about half are
// 0, the others are drawn from an exponential. They are as loud as spreads the outputs by 1, for
// the answer to a sample of nothing in particular is neither one label nor all alike. Then the
// feature is moved up the slope of its output's likelihood, until the classifier says that output
// with a probability that is drawn, too: of samples it is sure of some, and of others less.
//
// Pure: the same arguments and number of threads, the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace moil::packs {

struct ClassifierRows {
  std::size_t width = 0, outputs = 0;
  std::span<const float> weights;  // [outputs x width]
  std::span<const float> bias;     // [outputs]
  bool each_by_itself = false;     // sigmoids; else one softmax
};

// One feature for each output, or for the first of every `step` of them: [these x width]. draw:
// which of the many that there are.
[[nodiscard]] std::vector<float> describe_features(const ClassifierRows& rows, std::uint64_t draw,
                                                   std::size_t step = 1);

}  // namespace moil::packs
