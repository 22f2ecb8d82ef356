// The factor and the offset of imprinted rows (imprint.h), from what such rows say of samples that
// they were not made of. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "daemon/night/whitened_rows.h"

namespace moil::night {

inline constexpr int kKnownLabel = -1;  // of a class that the classifier knows

struct ImprintScores {
  std::size_t classes = 0;    // new ones
  std::vector<float> values;  // [samples x classes]; kNoRow where the row had no samples
  std::vector<double> known;  // by sample: the log of the sum of the old rows' exponentials
  std::vector<int> label;     // by sample: its new class, or kKnownLabel
};

struct ImprintFit {
  double factor = 1, offset = 0;  // a new row's output: factor * value + offset
  bool fitted = false;
};

// Both minimise cross-entropy, softmax over old and new rows, or sigmoid of each new row by itself;
// beside it counts, as one sample would, how far the factor is from `usual`. Where only one of both
// sides, new and known, has samples that tell, the factor is `usual`, and new rows get kStolen of
// what is said of known samples.
[[nodiscard]] ImprintFit fit_imprint(const ImprintScores& scores, double usual,
                                     bool each_by_itself);

}  // namespace moil::night
