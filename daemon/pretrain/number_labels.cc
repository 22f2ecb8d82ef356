#include "daemon/pretrain/number_labels.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"

namespace moil::pretrain {
namespace {

using Numbers = std::vector<double>;

constexpr double kDelta = 1;             // deviations
constexpr double kFar = 10;              // robust deviations from the middle
constexpr double kNormalShare = 1.4826;  // of a normal distribution: deviation over middle distance

// The numbers of each output that are trained on.
std::vector<Numbers> training_numbers(const data::Dataset& dataset, std::size_t outputs) {
  std::vector<Numbers> all(outputs);
  for (const std::size_t i : data::samples_of(dataset, data::Split::kTrain)) {
    const Numbers numbers = numbers_of(dataset.classes()[dataset.labels(i)[0]], outputs);
    for (std::size_t o = 0; o < outputs; ++o) all[o].push_back(numbers[o]);
  }
  return all;
}

// What so much of the numbers lies below.
double quantile(Numbers numbers, double share) {
  if (numbers.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(numbers.size() - 1));
  std::ranges::nth_element(numbers, numbers.begin() + at);
  return numbers[static_cast<std::size_t>(at)];
}

struct Middle {
  double median = 0;
  double deviation = 0;  // 0 if more than half are the same
};

Middle middle_of(const Numbers& numbers) {
  const double median = quantile(numbers, 0.5);
  Numbers distances;
  for (const double x : numbers) distances.push_back(std::abs(x - median));
  return {median, kNormalShare * quantile(std::move(distances), 0.5)};
}

void add_moments(const Numbers& numbers, PredictDescription& d) {
  const auto count = static_cast<double>(numbers.size());
  double mean = 0, variance = 0;
  for (const double x : numbers) mean += x / count;
  for (const double x : numbers) variance += (x - mean) * (x - mean) / count;
  d.mean.push_back(mean);
  d.stddev.push_back(variance > 0 ? std::sqrt(variance) : 1);  // numbers that are all the same
}

}  // namespace

PredictDescription describe_numbers(const data::Dataset& dataset, std::size_t outputs,
                                    NumberLoss loss) {
  PredictDescription description;
  if (loss == NumberLoss::kHuber) description.huber_delta = kDelta;
  for (const Numbers& numbers : training_numbers(dataset, outputs)) {
    const Middle middle = loss == NumberLoss::kHuber ? middle_of(numbers) : Middle();
    if (middle.deviation > 0) {
      description.mean.push_back(middle.median);
      description.stddev.push_back(middle.deviation);
    } else {
      add_moments(numbers, description);
    }
  }
  return description;
}

std::vector<std::string> outlying_numbers(const data::Dataset& dataset,
                                          const std::vector<std::string>& outputs,
                                          NumberLoss loss) {
  std::vector<std::string> remarks;
  const std::vector<Numbers> all = training_numbers(dataset, outputs.size());
  for (std::size_t o = 0; o < all.size(); ++o) {
    const Middle middle = middle_of(all[o]);
    if (middle.deviation == 0) continue;
    double squares = 0, far_squares = 0, farthest = middle.median;
    std::size_t far = 0;
    for (const double x : all[o]) {
      const double distance = std::abs(x - middle.median);
      squares += distance * distance;
      if (distance <= kFar * middle.deviation) continue;
      ++far;
      far_squares += distance * distance;
      if (distance > std::abs(farthest - middle.median)) farthest = x;
    }
    if (far_squares <= squares / 2) continue;
    remarks.push_back(
        outputs[o] + ": " + std::to_string(far) + " of " + std::to_string(all[o].size()) +
        " numbers lie far from the others, such as " + number_text(farthest) +
        ", where half of all are between " + number_text(quantile(all[o], 0.25)) + " and " +
        number_text(quantile(all[o], 0.75)) +
        (loss == NumberLoss::kHuber
             ? "; they count little with --loss huber"
             : "; they make most of the error that is trained on: mend them, or train with "
               "--loss huber"));
  }
  return remarks;
}

}  // namespace moil::pretrain
