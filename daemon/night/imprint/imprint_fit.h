// How loud imprinted rows are (imprint.h), from what such rows say of samples that they were not
// made of. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "daemon/night/imprint/whitened_rows.h"

namespace moil::night {

inline constexpr double kStolen = 0.01;
inline constexpr int kKnownLabel = -1;  // of a class that the classifier knows

struct ImprintScores {
  std::size_t classes = 0;                  // new ones
  std::optional<std::size_t> diverse = {};  // the one whose samples have no look in common
  std::vector<float> values;                // [samples x classes]; kNoRow if the row had no samples
  std::vector<float> named;    // [samples x classes]: what named rows say (named_rows.h); or empty
  std::vector<double> known;   // by sample: the log of the sum of the old rows' exponentials
  std::vector<float> loudest;  // by sample: the loudest old row's output
  std::vector<int> label;      // by sample: its new class, or kKnownLabel

  bool has_row(std::size_t sample, std::size_t k) const {
    return values[sample * classes + k] != kNoRow;
  }
  // A sample of a new class, which that class's row was not made of.
  bool tells(std::size_t sample) const {
    return label[sample] != kKnownLabel && has_row(sample, static_cast<std::size_t>(label[sample]));
  }
  double named_output(std::size_t sample, std::size_t k) const {
    return named.empty() ? 0 : double{named[sample * classes + k]};
  }
};

// A new row's output: factor * value + share * what the named row says + offset.
struct Loudness {
  double factor = 1, share = 1, offset = 0;
};
struct ImprintFit {
  Loudness alike;    // of rows of classes whose samples are alike
  Loudness diverse;  // of the row of the class whose samples are not
  bool fitted = false;
};

// All minimise cross-entropy together: softmax over old and new rows, where each sample of a new
// class weighs the cube root of how many known samples there are to one of those; or sigmoid of
// each new row by itself, where all samples weigh the same. The mean of samples that have no look
// in common says little of the next one: the row of their class is as loud as they tell, the others
// are not the quieter for it, and each of its samples weighs what a known one does. Beside it
// counts, as one sample would, how far the factors are from `usual`, and the shares from 1. Where
// no sample tells, the factor is `usual` and new rows get kStolen of what is said of known samples;
// without known samples, all.
[[nodiscard]] ImprintFit fit_imprint(const ImprintScores& scores, double usual,
                                     bool each_by_itself);

struct RightOf {
  std::size_t right = 0, samples = 0;
};
// How many of the left-out samples of new classes the rows of the others tell right, as loud as
// `fit` has it. For softmax.
[[nodiscard]] RightOf right_when_left_out(const ImprintScores& scores, const ImprintFit& fit);

}  // namespace moil::night
