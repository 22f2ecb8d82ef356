#include "daemon/models/smoothed_answers.h"

#include <algorithm>
#include <cmath>

namespace moil::night {
namespace {

constexpr double kOfAPart = 3;

std::size_t joined_of(const data::PartPlaces& places) {
  if (places.hop <= 0) return 1;
  const double parts = std::round(places.length / kOfAPart / places.hop);
  return static_cast<std::size_t>(std::max(1.0, parts));
}

}  // namespace

data::KindPtr as_listened(const data::Kind& kind, double every) {
  constexpr double kUsual = 0.08, kOfPart = 12;
  return kind.with_hop(every > 0 ? every
                                 : std::max(kUsual, kind.endless_places().length / kOfPart));
}

SmoothedAnswers::SmoothedAnswers(std::size_t labels, const data::PartPlaces& places)
    : labels_(labels), joined_(joined_of(places)), rows_(joined_ * labels), mean_(labels) {}

std::span<float> SmoothedAnswers::next_row() {
  const std::span<float> row = std::span(rows_).subspan(next_ * labels_, labels_);
  next_ = (next_ + 1) % joined_;
  count_ = std::min(count_ + 1, joined_);
  return row;
}

std::span<const float> SmoothedAnswers::add(std::span<const float> answer) {
  std::ranges::copy(answer, next_row().begin());
  for (std::size_t label = 0; label < labels_; ++label) {
    double sum = 0;
    for (std::size_t k = 0; k < count_; ++k) sum += double{rows_[k * labels_ + label]};
    mean_[label] = static_cast<float>(sum / static_cast<double>(count_));
  }
  return mean_;
}

void SmoothedAnswers::add_silence() { std::ranges::fill(next_row(), 0.0F); }

void SmoothedAnswers::join(std::span<const float> answer) {
  if (summed_++ == 0) sum_.assign(labels_, 0.0);
  for (std::size_t label = 0; label < labels_; ++label) sum_[label] += double{answer[label]};
}

std::vector<float> SmoothedAnswers::joined() const {
  std::vector<float> mean;
  for (std::size_t label = 0; summed_ > 0 && label < labels_; ++label)
    mean.push_back(static_cast<float>(sum_[label] / static_cast<double>(summed_)));
  return mean;
}

void SmoothedAnswers::begin_anew() { next_ = count_ = summed_ = 0; }

}  // namespace moil::night
