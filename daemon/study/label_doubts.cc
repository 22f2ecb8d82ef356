#include "daemon/study/label_doubts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "daemon/night/imprint/whitened_rows.h"

namespace moil::night {
namespace {

class Doubting {
 public:
  Doubting(std::span<const float> scores, std::span<const std::uint32_t> labels,
           std::size_t classes)
      : scores_(scores), labels_(labels), classes_(classes) {}

  std::vector<LabelDoubt> run() {
    factor_ = likeliest_factor();
    const std::vector<double> thresholds = mean_of_labels();
    std::vector<LabelDoubt> doubts;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (!tells(i)) continue;
      const std::vector<double> chances = chances_of(i);
      const auto said =
          static_cast<std::size_t>(std::ranges::max_element(chances) - chances.begin());
      if (said == labels_[i]) continue;
      doubts.push_back({i, static_cast<std::uint32_t>(said), chances[said], chances[labels_[i]],
                        chances[said] >= thresholds[said]});
    }
    std::ranges::stable_sort(doubts, {}, [](const LabelDoubt& d) {
      return std::tuple(!d.likely, d.own - d.probability);
    });
    return doubts;
  }

 private:
  std::span<const float> row(std::size_t sample) const {
    return scores_.subspan(sample * classes_, classes_);
  }
  bool tells(std::size_t sample) const { return row(sample)[labels_[sample]] != kNoRow; }

  std::vector<double> chances_of(std::size_t sample) const {
    const auto values = row(sample);
    const double most = double{*std::ranges::max_element(values)};
    std::vector<double> chances;
    double sum = 0;
    for (const float v : values) {
      chances.push_back(v == kNoRow ? 0 : std::exp(factor_ * (double{v} - most)));
      sum += chances.back();
    }
    for (double& c : chances) c /= sum;
    return chances;
  }

  // The one of a grid of powers of 2^(1/2) with which labels are likeliest.
  double likeliest_factor() {
    double best = std::numeric_limits<double>::infinity(), found = 1;
    for (int power = -24; power <= 12; ++power) {
      factor_ = std::exp2(power / 2.0);
      double loss = 0;
      for (std::size_t i = 0; i < labels_.size(); ++i)
        if (tells(i)) loss -= std::log(std::max(chances_of(i)[labels_[i]], 1e-30));
      if (loss >= best) continue;
      best = loss;
      found = factor_;
    }
    return found;
  }

  std::vector<double> mean_of_labels() const {
    std::vector<double> sum(classes_), count(classes_);
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (!tells(i)) continue;
      sum[labels_[i]] += chances_of(i)[labels_[i]];
      ++count[labels_[i]];
    }
    for (std::size_t k = 0; k < classes_; ++k) sum[k] = count[k] > 0 ? sum[k] / count[k] : 1;
    return sum;
  }

  const std::span<const float> scores_;
  const std::span<const std::uint32_t> labels_;
  const std::size_t classes_;
  double factor_ = 1;
};

}  // namespace

std::vector<LabelDoubt> label_doubts(std::span<const float> scores,
                                     std::span<const std::uint32_t> labels, std::size_t classes) {
  return Doubting(scores, labels, classes).run();
}

}  // namespace moil::night
