// Rows of a classifier for classes that it does not know, from a few samples of each: imprinted
// weights (Qi et al., CVPR 2018) in whitened space.
//
// Rows are made in whitened space (whitened_rows.h), where each has length 1: those of few samples
// and of many are of one strength.
//
// Beside the rows that are there, which do not change, two numbers count: a factor for all new rows
// and an offset in all of their biases. They minimise the loss on samples that the rows were not
// made of (five folds), the samples of known classes among them: so new rows answer for their
// classes and take little from the others. Where no class has samples in two folds, new rows are as
// long as the old ones and get kStolen of the probability of samples of known classes.
//
// Pure: the same arguments and number of threads, the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/night/whitened_rows.h"

namespace moil::night {

inline constexpr double kStolen = 0.01;
struct ImprintInput {
  std::size_t width = 0;                  // of the features
  std::size_t known = 0, fresh = 0;       // classes
  std::span<const FoldedSample> samples;  // in the order of their folds
  std::span<float> features;              // [samples x width]; centred in place
  std::span<const float> known_weights;   // [known x width]
  std::span<const float> known_bias;      // [known], or empty
  // Each class by itself (sigmoid), or one of all (softmax).
  bool each_by_itself = false;
};

struct ImprintedRows {
  std::vector<float> weights;  // [fresh x width]
  std::vector<float> bias;     // [fresh]
  bool fitted = false;         // factor and offset, on samples that were left out
};

// Nothing where the features do not tell samples apart, or a new class has none.
[[nodiscard]] std::optional<ImprintedRows> imprint(const ImprintInput& input);

// What imprint() takes at most beside its input.
[[nodiscard]] std::size_t imprint_bytes(std::size_t samples, std::size_t width, std::size_t known,
                                        std::size_t fresh);

}  // namespace moil::night
