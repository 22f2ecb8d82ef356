// Samples whose label is likely wrong: confident learning (Northcutt et al., JAIR 70, 2021).
//
// What rows of other folds say of each sample (whitened_rows.h) becomes probabilities, by the
// temperature at which the labels as they are, are likeliest. A label's threshold is the mean
// probability of the samples that have it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace moil::night {

struct LabelDoubt {
  std::size_t sample = 0;
  std::uint32_t said = 0;  // the class that it looks like
  double probability = 0;  // of that class
  double own = 0;          // of its label
  // The class that it looks like is as likely as it is for samples that have it: the label is
  // wrong, or one of several.
  bool likely = false;
  bool operator==(const LabelDoubt&) const = default;
};

// scores: [labels.size() x classes], kNoRow if there was no row. Samples that look like another
// class than their label: likely ones first, then by how much the other class is ahead. One whose
// label has no row tells nothing and is not among them.
[[nodiscard]] std::vector<LabelDoubt> label_doubts(std::span<const float> scores,
                                                   std::span<const std::uint32_t> labels,
                                                   std::size_t classes);

}  // namespace moil::night
