// How loud imprinted rows are (imprint.h), from what such rows say of samples that they were not
// made of. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "daemon/night/whitened_rows.h"

namespace moil::night {

inline constexpr int kKnownLabel = -1;  // of a class that the classifier knows

// New rows are of two groups, each with a factor and an offset of its own: those that stand alone,
// and those that are paired with a known row, to whose output they add.
enum RowGroup : std::size_t { kAlone, kPaired, kRowGroups };

struct ImprintScores {
  std::size_t classes = 0;      // new ones
  std::vector<float> values;    // [samples x classes]; kNoRow where the row had no samples
  std::vector<double> known;    // by sample: the log of the sum of the old rows' exponentials
  std::vector<int> label;       // by sample: its new class, or kKnownLabel
  std::vector<double> weight;   // by new class, of one of its samples; empty: 1
  std::vector<RowGroup> group;  // by new class; empty: all stand alone
  std::vector<float> paired;    // [samples x classes]: outputs of paired rows' known ones, else 0
};

struct ImprintFit {
  // A new row's output: factor * value + offset, beside its known row's.
  struct Strength {
    double factor = 1, offset = 0;
  };
  std::array<Strength, kRowGroups> of;
  bool fitted = false;  // any of them
  double loss = 0;      // where fitted
};

// All minimise cross-entropy together, softmax over old and new rows, or sigmoid of each new row by
// itself; beside it counts, as one sample would, how far a factor is from `usual`. A group of which
// no sample tells has the factor `usual`, and its rows get kStolen of what is said of known
// samples; without known samples that tell, so it is of all.
[[nodiscard]] ImprintFit fit_imprint(const ImprintScores& scores, double usual,
                                     bool each_by_itself);

}  // namespace moil::night
