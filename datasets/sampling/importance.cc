#include "datasets/sampling/importance.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/json/json.h"
#include "base/random.h"
#include "datasets/sampling/per_class.h"

namespace moil::data {
namespace {

// The share of the draws that go round alike, whatever the bounds say: no weight is above 1 over
// it, and no bound grows old.
constexpr double kEvenShare = 0.25;

}  // namespace

ImportanceSampler::ImportanceSampler(std::size_t samples, std::uint64_t seed)
    : seed_(seed), bounds_(samples, -1), drawn_bounds_(bounds_), weights_(samples, 1) {}

// A sample that was not seen yet counts as the mean of the others.
std::vector<double> ImportanceSampler::probabilities(const std::vector<float>& bounds) const {
  double sum = 0;
  std::size_t seen = 0;
  for (const float b : bounds) {
    if (b < 0) continue;
    sum += b;
    ++seen;
  }
  const auto all = static_cast<double>(bounds.size());
  std::vector<double> p(bounds.size(), 1 / all);
  if (!(sum > 0)) return p;
  const double mean = sum / static_cast<double>(seen);
  const double total = sum + mean * static_cast<double>(bounds.size() - seen);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double bound = bounds[i] < 0 ? mean : double{bounds[i]};
    p[i] = kEvenShare / all + (1 - kEvenShare) * bound / total;
  }
  return p;
}

// Systematic: a sample comes as often as is expected, or once more.
std::vector<std::size_t> ImportanceSampler::epoch(std::int64_t epoch) {
  if (epoch != epoch_) {
    epoch_ = epoch;
    drawn_bounds_ = bounds_;
  }
  const std::size_t n = drawn_bounds_.size();
  std::fill(weights_.begin(), weights_.end(), 1.0F);
  if (std::ranges::all_of(drawn_bounds_, [](float b) { return b < 0; }))
    return epoch_order(n, seed_, static_cast<std::uint64_t>(epoch));
  const std::vector<double> p = probabilities(drawn_bounds_);
  Random random(derive_seed(seed_, "importance/" + std::to_string(epoch)));
  std::vector<std::size_t> order;
  order.reserve(n);
  const double start = random.unit();
  double upto = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double expected = static_cast<double>(n) * p[i];
    weights_[i] = static_cast<float>(1 / expected);
    upto += expected;
    while (order.size() < n && start + static_cast<double>(order.size()) < upto) order.push_back(i);
  }
  while (order.size() < n) order.push_back(n - 1);  // rounding may leave one over
  random.shuffle(std::span(order));
  return order;
}

void ImportanceSampler::see(std::size_t sample, float bound) {
  if (std::isfinite(bound) && bound >= 0) bounds_.at(sample) = bound;
}

// Second moments of one draw's weighted gradient: even draws over these.
double ImportanceSampler::gain() const {
  const std::vector<double> p = probabilities(bounds_);
  const auto n = static_cast<double>(bounds_.size());
  double even = 0, drawn = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (bounds_[i] < 0) continue;
    const double square = double{bounds_[i]} * double{bounds_[i]};
    even += square / n;
    drawn += square / (n * n * p[i]);
  }
  return drawn > 0 ? even / drawn : 1;
}

nlohmann::json ImportanceSampler::state() const {
  return {{"epoch", epoch_}, {"bounds", bounds_}, {"drawn", drawn_bounds_}};
}

void ImportanceSampler::restore(const nlohmann::json& state) {
  auto bounds = state.at("bounds").get<std::vector<float>>();
  auto drawn = state.at("drawn").get<std::vector<float>>();
  if (bounds.size() != bounds_.size() || drawn.size() != bounds_.size())
    throw Error(ErrorCode::kBadData, "the state of importance sampling is of other samples");
  epoch_ = state.at("epoch").get<std::int64_t>();
  bounds_ = std::move(bounds);
  drawn_bounds_ = std::move(drawn);
}

}  // namespace moil::data
