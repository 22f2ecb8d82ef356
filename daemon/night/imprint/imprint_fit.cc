#include "daemon/night/imprint/imprint_fit.h"

#include <algorithm>
#include <cmath>

namespace moil::night {
namespace {

constexpr int kMostSteps = 50;
constexpr double kOffsetPrior = 1e-3;  // holds it if nothing else does
constexpr double kFarOffset = 200;     // beyond it, an exponential is all or nothing

// The factor, in units of the usual one, the share and the offset: of classes whose samples are
// alike, then of the other one.
enum Number : std::size_t { kFactor, kShare, kOffset, kOfAClass };
constexpr std::size_t kNumbers = 2 * kOfAClass;
using Point = std::array<double, kNumbers>;
constexpr Point kBegin = {1, 1, 0, 1, 1, 0}, kPrior = {1, 1, kOffsetPrior, 1, 1, kOffsetPrior};

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
  // Adds a row's output, which changes by x with the numbers: its derivative, and its derivative's.
  void add_row(const Point& x, double first, double second) {
    for (std::size_t i = 0; i < kNumbers; ++i) {
      slope[i] += first * x[i];
      for (std::size_t j = 0; j < kNumbers; ++j) curve[i][j] += second * x[i] * x[j];
    }
  }
};

// If the curve is one of a convex loss with priors: Cholesky's way.
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
    std::size_t known = 0, alike = 0;
    for (std::size_t i = 0; i < scores.label.size(); ++i) {
      if (scores.label[i] == kKnownLabel) ++known;
      if (!scores_.tells(i)) continue;
      has_fresh_ = true;
      if (!is_diverse(i)) ++alike;
    }
    has_known_ = known > 0;
    if (!each_by_itself && known > alike && alike > 0)
      weight_ = std::cbrt(static_cast<double>(known) / static_cast<double>(alike));
  }

  bool has_known() const { return has_known_; }
  bool has_fresh() const { return has_fresh_; }

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

  // At which new rows get kStolen of known samples, on average, with the usual factor.
  double careful_offset() const {
    double low = -kFarOffset, high = kFarOffset;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (stolen(middle) > kStolen ? high : low) = middle;
    }
    return low;
  }

 private:
  // sample: one that has a label.
  bool is_diverse(std::size_t sample) const {
    return static_cast<std::size_t>(scores_.label[sample]) == scores_.diverse;
  }
  // How an output changes with the numbers.
  Point slope(std::size_t sample, std::size_t k) const {
    const std::size_t own = k == scores_.diverse ? std::size_t{kOfAClass} : 0;
    Point x{};
    x[own + kFactor] = usual_ * double{scores_.values[sample * scores_.classes + k]};
    x[own + kShare] = scores_.named_output(sample, k);
    x[own + kOffset] = 1;
    return x;
  }
  double output(std::size_t sample, std::size_t k, const Point& at) const {
    const Point x = slope(sample, k);
    double sum = 0;
    for (std::size_t i = 0; i < kNumbers; ++i) sum += at[i] * x[i];
    return sum;
  }
  double weight(std::size_t sample) const {
    if (scores_.label[sample] == kKnownLabel) return 1;
    if (!scores_.tells(sample)) return 0;
    return is_diverse(sample) ? 1 : weight_;
  }

  Local softmax(std::size_t sample, const Point& at) {
    double most = scores_.known[sample];
    for (std::size_t k = 0; k < scores_.classes; ++k)
      if (scores_.has_row(sample, k)) most = std::max(most, outputs_[k] = output(sample, k, at));
    double total = std::exp(scores_.known[sample] - most);
    for (std::size_t k = 0; k < scores_.classes; ++k)
      if (scores_.has_row(sample, k)) total += outputs_[k] = std::exp(outputs_[k] - most);
    Local sum;
    for (std::size_t k = 0; k < scores_.classes; ++k) {
      if (!scores_.has_row(sample, k)) continue;
      const double p = outputs_[k] / total;
      sum.add_row(slope(sample, k), p, p);
    }
    for (std::size_t i = 0; i < kNumbers; ++i)
      for (std::size_t j = 0; j < kNumbers; ++j) sum.curve[i][j] -= sum.slope[i] * sum.slope[j];
    double own = scores_.known[sample];
    if (scores_.label[sample] != kKnownLabel) {
      const auto label = static_cast<std::size_t>(scores_.label[sample]);
      own = output(sample, label, at);
      sum.add_row(slope(sample, label), -1, 0);
    }
    sum.loss = most + std::log(total) - own;
    return sum;
  }

  Local sigmoids(std::size_t sample, const Point& at) const {
    Local sum;
    for (std::size_t k = 0; k < scores_.classes; ++k) {
      if (!scores_.has_row(sample, k)) continue;
      const double y = output(sample, k, at), p = 1 / (1 + std::exp(-y));
      const double target = scores_.label[sample] == static_cast<int>(k) ? 1 : 0;
      sum.loss += std::max(y, 0.0) + std::log1p(std::exp(-std::abs(y))) - target * y;
      sum.add_row(slope(sample, k), p - target, p * (1 - p));
    }
    return sum;
  }

  Local loss(const Point& at) {
    Local sum;
    for (std::size_t i = 0; i < kNumbers; ++i) {
      const double far = at[i] - kBegin[i];
      sum.loss += kPrior[i] * far * far / 2;
      sum.slope[i] = kPrior[i] * far;
      sum.curve[i][i] = kPrior[i];
    }
    for (std::size_t i = 0; i < scores_.label.size(); ++i)
      if (const double counts = weight(i); counts > 0)
        sum.add(each_by_itself_ ? sigmoids(i, at) : softmax(i, at), counts);
    return sum;
  }

  static Point usual_at(double offset) { return {1, 1, offset, 1, 1, offset}; }
  double stolen(double offset) const {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < scores_.label.size(); ++i) {
      if (scores_.label[i] != kKnownLabel) continue;
      sum += each_by_itself_ ? likeliest(i, offset) : fresh_share(i, offset);
      ++count;
    }
    return sum / static_cast<double>(count);
  }
  double fresh_share(std::size_t sample, double offset) const {
    double fresh = 0;
    for (std::size_t k = 0; k < scores_.classes; ++k)
      if (scores_.has_row(sample, k))
        fresh += std::exp(output(sample, k, usual_at(offset)) - scores_.known[sample]);
    return 1 - 1 / (1 + fresh);
  }
  double likeliest(std::size_t sample, double offset) const {
    double most = -kFarOffset;
    for (std::size_t k = 0; k < scores_.classes; ++k)
      if (scores_.has_row(sample, k)) most = std::max(most, output(sample, k, usual_at(offset)));
    return 1 / (1 + std::exp(-most));
  }

  const ImprintScores& scores_;
  const double usual_;
  const bool each_by_itself_;
  bool has_known_ = false, has_fresh_ = false;
  double weight_ = 1;            // of a new class's sample
  std::vector<double> outputs_;  // of one sample
};

Loudness loudness(const Point& at, std::size_t of, double usual) {
  return {at[of + kFactor] * usual, at[of + kShare], at[of + kOffset]};
}

}  // namespace

ImprintFit fit_imprint(const ImprintScores& scores, double usual, bool each_by_itself) {
  Fitting fitting(scores, usual, each_by_itself);
  ImprintFit fit{{usual, 1, 0}, {usual, 1, 0}, false};
  if (!fitting.has_known()) return fit;
  const Point best = fitting.has_fresh() ? fitting.minimum() : kBegin;
  double sum = 0;
  for (const double number : best) sum += number;
  // Beside named rows, whitened ones may be taken away.
  fit.fitted =
      fitting.has_fresh() && std::isfinite(sum) && (best[kFactor] > 0 || !scores.named.empty());
  if (fit.fitted) return {loudness(best, 0, usual), loudness(best, kOfAClass, usual), true};
  fit.alike.offset = fit.diverse.offset = fitting.careful_offset();
  return fit;
}

RightOf right_when_left_out(const ImprintScores& scores, const ImprintFit& fit) {
  RightOf found;
  for (std::size_t i = 0; i < scores.label.size(); ++i) {
    if (!scores.tells(i)) continue;
    const auto label = static_cast<std::size_t>(scores.label[i]);
    const auto output = [&](std::size_t k) {
      const Loudness& loud = k == scores.diverse ? fit.diverse : fit.alike;
      return loud.factor * double{scores.values[i * scores.classes + k]} +
             loud.share * scores.named_output(i, k) + loud.offset;
    };
    bool wins = output(label) > double{scores.loudest[i]};
    for (std::size_t k = 0; k < scores.classes && wins; ++k)
      wins = k == label || !scores.has_row(i, k) || output(k) < output(label);
    ++found.samples;
    found.right += wins ? 1 : 0;
  }
  return found;
}

}  // namespace moil::night
