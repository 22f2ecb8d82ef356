#include "daemon/night/part_answers.h"

#include <algorithm>

namespace moil::night {

void PartAnswers::add(std::span<const float> output) {
  if (parts_++ == 0) {
    answer_.assign(output.begin(), output.end());
    return;
  }
  for (std::size_t i = 0; i < answer_.size(); ++i)
    answer_[i] = how_ == data::PartAnswer::kMaximum ? std::max(answer_[i], output[i])
                                                    : answer_[i] + output[i];
}

std::span<const float> PartAnswers::take() {
  if (parts_ > 1 && how_ == data::PartAnswer::kMean)
    for (float& x : answer_) x /= static_cast<float>(parts_);
  parts_ = 0;
  return answer_;
}

}  // namespace moil::night
