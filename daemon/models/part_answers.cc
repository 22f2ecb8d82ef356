#include "daemon/models/part_answers.h"

#include <algorithm>

namespace moil::night {

void PartAnswers::add(std::span<const float> output) {
  if (parts_++ == 0) {
    answer_.assign(output.begin(), output.end());
    return;
  }
  if (parts_ == 2) {
    task_.soften(answer_, form_);
    joined_.assign(answer_.begin(), answer_.end());
  }
  next_.assign(output.begin(), output.end());
  task_.soften(next_, form_);
  for (std::size_t i = 0; i < joined_.size(); ++i)
    joined_[i] = how_ == data::PartAnswer::kMaximum ? std::max(joined_[i], double{next_[i]})
                                                    : joined_[i] + double{next_[i]};
}

std::span<const float> PartAnswers::take() {
  if (parts_ > 1) {
    const auto count = how_ == data::PartAnswer::kMean ? static_cast<double>(parts_) : 1.0;
    for (std::size_t i = 0; i < joined_.size(); ++i)
      answer_[i] = static_cast<float>(joined_[i] / count);
    task_.harden(answer_, form_);
  }
  parts_ = 0;
  return answer_;
}

}  // namespace moil::night
