#include "daemon/night/imprint_fit.h"

#include <algorithm>
#include <cmath>

#include "daemon/night/imprint.h"

namespace moil::night {
namespace {

constexpr int kMostSteps = 50;
constexpr double kOffsetPrior = 1e-3;  // holds it where nothing else does
constexpr double kFarOffset = 200;     // beyond it, an exponential is all or nothing

// The groups' factors, in units of the usual one, then their offsets.
constexpr std::size_t kNumbers = 2 * kRowGroups;
using Point = std::array<double, kNumbers>;
constexpr Point kBegin = {1, 1, 0, 0};

// Loss with its derivatives.
struct Local {
  double loss = 0;
  Point slope{};
  std::array<Point, kNumbers> curve{};

  void add(const Local& other, double weight) {
    loss += weight * other.loss;
    for (std::size_t i = 0; i < kNumbers; ++i) {
      slope[i] += weight * other.slope[i];
      for (std::size_t j = 0; j < kNumbers; ++j) curve[i][j] += weight * other.curve[i][j];
    }
  }
  // Of a row's output, which changes by x with the factor: its derivative, and its derivative's.
  void add_row(RowGroup group, double x, double first, double second) {
    const std::size_t factor = group, offset = kRowGroups + group;
    slope[factor] += first * x, slope[offset] += first;
    curve[factor][factor] += second * x * x, curve[offset][offset] += second;
    curve[factor][offset] += second * x, curve[offset][factor] += second * x;
  }
};

// Where the curve is one of a convex loss with priors: Cholesky's way.
Point newton_step(Local at) {
  auto& a = at.curve;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(std::max(a[i][i], 1e-12)) : a[i][j] / a[j][j];
    }
  }
  Point step = at.slope;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    for (std::size_t k = 0; k < i; ++k) step[i] -= a[i][k] * step[k];
    step[i] /= a[i][i];
  }
  for (std::size_t i = kNumbers; i-- > 0;) {
    for (std::size_t k = i + 1; k < kNumbers; ++k) step[i] -= a[k][i] * step[k];
    step[i] /= a[i][i];
  }
  return step;
}

class Fitting {
 public:
  Fitting(const ImprintScores& scores, double usual, bool each_by_itself)
      : scores_(scores), usual_(usual), each_by_itself_(each_by_itself), outputs_(scores.classes) {
    for (std::size_t g = 0; g < kRowGroups; ++g) active_[g] = tells(static_cast<RowGroup>(g));
  }

  bool has_known() const { return std::ranges::count(scores_.label, kKnownLabel) > 0; }
  bool is_active(RowGroup group) const { return active_[group]; }
  double loss_at(const Point& at) { return loss(at).loss; }

  Point minimum() {
    Point at = kBegin;
    for (int step = 0; step < kMostSteps; ++step) {
      const Local here = loss(at);
      const Point move = newton_step(here);
      double gain = 0;
      for (std::size_t i = 0; i < kNumbers; ++i) gain += move[i] * here.slope[i];
      if (!(gain > 1e-9 * (1 + here.loss))) break;
      double part = 1;
      const auto moved = [&] {
        Point there = at;
        for (std::size_t i = 0; i < kNumbers; ++i) there[i] -= part * move[i];
        return there;
      };
      while (part > 1e-6 && !(loss(moved()).loss <= here.loss - 1e-4 * part * gain)) part /= 2;
      if (part <= 1e-6) break;
      at = moved();
    }
    return at;
  }

  // At which the group's rows get kStolen of known samples, on average, with the usual factor.
  double careful_offset(RowGroup group) const {
    double low = -kFarOffset, high = kFarOffset;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (stolen(group, middle) > kStolen ? high : low) = middle;
    }
    return low;
  }

 private:
  RowGroup group_of(std::size_t k) const {
    return scores_.group.empty() ? kAlone : scores_.group[k];
  }
  const float* values(std::size_t sample) const {
    return scores_.values.data() + sample * scores_.classes;
  }
  // Of a paired row's known one.
  double base(std::size_t sample, std::size_t k) const {
    return scores_.paired.empty() ? 0 : double{scores_.paired[sample * scores_.classes + k]};
  }
  // By the factor's change: usual * value.
  double slope(float value) const { return usual_ * double{value}; }

  bool tells(RowGroup group) const {
    for (std::size_t i = 0; i < scores_.label.size(); ++i) {
      const int label = scores_.label[i];
      if (label == kKnownLabel) continue;
      const auto k = static_cast<std::size_t>(label);
      if (group_of(k) == group && values(i)[k] != kNoRow) return true;
    }
    return false;
  }
  bool takes_part(std::size_t sample, std::size_t k) const {
    return values(sample)[k] != kNoRow && active_[group_of(k)];
  }
  double output(std::size_t sample, std::size_t k, const Point& at) const {
    const RowGroup group = group_of(k);
    return base(sample, k) + at[group] * slope(values(sample)[k]) + at[kRowGroups + group];
  }
  double weight(std::size_t sample) const {
    const int label = scores_.label[sample];
    if (label == kKnownLabel) return 1;
    const auto k = static_cast<std::size_t>(label);
    if (!takes_part(sample, k)) return 0;
    return scores_.weight.empty() ? 1 : scores_.weight[k];
  }

  Local softmax(std::size_t sample, const Point& at) {
    double most = scores_.known[sample];
    for (std::size_t k = 0; k < scores_.classes; ++k)
      if (takes_part(sample, k)) most = std::max(most, outputs_[k] = output(sample, k, at));
    double total = std::exp(scores_.known[sample] - most);
    for (std::size_t k = 0; k < scores_.classes; ++k)
      if (takes_part(sample, k)) total += outputs_[k] = std::exp(outputs_[k] - most);
    Local sum;
    for (std::size_t k = 0; k < scores_.classes; ++k) {
      if (!takes_part(sample, k)) continue;
      const double p = outputs_[k] / total;
      sum.add_row(group_of(k), slope(values(sample)[k]), p, p);
    }
    for (std::size_t i = 0; i < kNumbers; ++i)
      for (std::size_t j = 0; j < kNumbers; ++j) sum.curve[i][j] -= sum.slope[i] * sum.slope[j];
    double own = scores_.known[sample];
    if (scores_.label[sample] != kKnownLabel) {
      const auto label = static_cast<std::size_t>(scores_.label[sample]);
      own = output(sample, label, at);
      sum.add_row(group_of(label), slope(values(sample)[label]), -1, 0);
    }
    sum.loss = most + std::log(total) - own;
    return sum;
  }

  Local sigmoids(std::size_t sample, const Point& at) const {
    Local sum;
    for (std::size_t k = 0; k < scores_.classes; ++k) {
      if (!takes_part(sample, k)) continue;
      const double y = output(sample, k, at), p = 1 / (1 + std::exp(-y));
      const double target = scores_.label[sample] == static_cast<int>(k) ? 1 : 0;
      sum.loss += std::max(y, 0.0) + std::log1p(std::exp(-std::abs(y))) - target * y;
      sum.add_row(group_of(k), slope(values(sample)[k]), p - target, p * (1 - p));
    }
    return sum;
  }

  Local loss(const Point& at) {
    Local sum;
    for (std::size_t i = 0; i < kNumbers; ++i) {
      const double prior = i < kRowGroups ? 1 : kOffsetPrior, far = at[i] - kBegin[i];
      sum.loss += prior * far * far / 2;
      sum.slope[i] = prior * far;
      sum.curve[i][i] = prior;
    }
    for (std::size_t i = 0; i < scores_.label.size(); ++i)
      if (const double counts = weight(i); counts > 0)
        sum.add(each_by_itself_ ? sigmoids(i, at) : softmax(i, at), counts);
    return sum;
  }

  double stolen(RowGroup group, double offset) const {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < scores_.label.size(); ++i) {
      if (scores_.label[i] != kKnownLabel) continue;
      sum += each_by_itself_ ? likeliest(group, i, offset) : fresh_share(group, i, offset);
      ++count;
    }
    return sum / static_cast<double>(count);
  }
  bool is_careful(RowGroup group, std::size_t sample, std::size_t k) const {
    return group_of(k) == group && values(sample)[k] != kNoRow;
  }
  double fresh_share(RowGroup group, std::size_t sample, double offset) const {
    double fresh = 0;
    for (std::size_t k = 0; k < scores_.classes; ++k)
      if (is_careful(group, sample, k))
        fresh +=
            std::exp(base(sample, k) + slope(values(sample)[k]) + offset - scores_.known[sample]);
    return 1 - 1 / (1 + fresh);
  }
  double likeliest(RowGroup group, std::size_t sample, double offset) const {
    double most = -kFarOffset;
    for (std::size_t k = 0; k < scores_.classes; ++k)
      if (is_careful(group, sample, k)) most = std::max(most, slope(values(sample)[k]));
    return 1 / (1 + std::exp(-most - offset));
  }

  const ImprintScores& scores_;
  const double usual_;
  const bool each_by_itself_;
  std::array<bool, kRowGroups> active_{};
  std::vector<double> outputs_;  // of one sample
};

}  // namespace

ImprintFit fit_imprint(const ImprintScores& scores, double usual, bool each_by_itself) {
  Fitting fitting(scores, usual, each_by_itself);
  ImprintFit fit;
  for (auto& strength : fit.of) strength = {usual, 0};
  if (!fitting.has_known()) return fit;
  const Point best = fitting.minimum();
  fit.loss = fitting.loss_at(best);
  for (std::size_t g = 0; g < kRowGroups; ++g) {
    const auto group = static_cast<RowGroup>(g);
    const double factor = best[g], offset = best[kRowGroups + g];
    if (fitting.is_active(group) && factor > 0 && std::isfinite(offset)) {
      fit.of[g] = {factor * usual, offset};
      fit.fitted = true;
    } else {
      fit.of[g].offset = fitting.careful_offset(group);
    }
  }
  return fit;
}

}  // namespace moil::night
