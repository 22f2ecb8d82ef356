// One answer of a sample's parts.
//
// Parts are joined as what they say: the mean of probabilities, not of logits, among which one part
// of digital silence would outvote all others. Numbers are joined as they are.
#pragma once

#include <span>
#include <vector>

#include "datasets/kinds/kind.h"
#include "engine/train/task.h"

namespace moil::night {

// Takes the outputs of one sample's parts, one after the other. One thread.
class PartAnswers {
 public:
  // `task` outlives it; form: of the outputs.
  PartAnswers(data::PartAnswer how, const Task& task, OutputForm form)
      : how_(how), task_(task), form_(form) {}

  void add(std::span<const float> output);
  std::size_t parts() const { return parts_; }  // that were added
  // An output of the same form that says the mean of what was added, or the maximum, element by
  // element; of one part its output as it is. Begins anew behind it. Valid until the next add().
  std::span<const float> take();

 private:
  const data::PartAnswer how_;
  const Task& task_;
  const OutputForm form_;
  std::size_t parts_ = 0;
  std::vector<float> answer_, next_;
  std::vector<double> joined_;
};

}  // namespace moil::night
