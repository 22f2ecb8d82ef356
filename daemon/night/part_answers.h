// One answer of a sample's parts.
#pragma once

#include <span>
#include <vector>

#include "datasets/kinds/kind.h"

namespace moil::night {

// Takes the outputs of one sample's parts, one after the other. One thread.
class PartAnswers {
 public:
  explicit PartAnswers(data::PartAnswer how) : how_(how) {}

  void add(std::span<const float> output);
  // The mean of what was added, or the maximum, element by element; begins anew behind it. Valid
  // until the next add().
  std::span<const float> take();

 private:
  const data::PartAnswer how_;
  std::size_t parts_ = 0;
  std::vector<float> answer_;
};

}  // namespace moil::night
