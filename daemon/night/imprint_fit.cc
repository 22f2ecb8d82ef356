#include "daemon/night/imprint_fit.h"

#include <algorithm>
#include <cmath>

#include "daemon/night/imprint.h"

namespace moil::night {
namespace {

constexpr int kMostSteps = 50;
constexpr double kOffsetPrior = 1e-3;  // holds it where nothing else does
constexpr double kFarOffset = 200;     // beyond it, an exponential is all or nothing

// Factor in units of the usual one, and offset.
struct Point {
  double factor = 1, offset = 0;
};

// Loss with its derivatives.
struct Local {
  double loss = 0, by_factor = 0, by_offset = 0;
  double factor_twice = 0, both = 0, offset_twice = 0;

  // A row's probability p, whose output changes by x with the factor.
  void add(double p, double x, double target) {
    by_factor += (p - target) * x;
    by_offset += p - target;
  }
};

class Fitting {
 public:
  Fitting(const ImprintScores& scores, double usual, bool each_by_itself)
      : scores_(scores), usual_(usual), each_by_itself_(each_by_itself) {}

  bool tells(bool known) const {
    for (std::size_t i = 0; i < scores_.label.size(); ++i)
      if ((scores_.label[i] == kKnownLabel) == known && counts(i)) return true;
    return false;
  }

  Point minimum() const {
    Point at;
    for (int step = 0; step < kMostSteps; ++step) {
      const Local here = loss(at);
      const double determinant = here.factor_twice * here.offset_twice - here.both * here.both;
      const Point move{
          (here.offset_twice * here.by_factor - here.both * here.by_offset) / determinant,
          (here.factor_twice * here.by_offset - here.both * here.by_factor) / determinant};
      const double gain = move.factor * here.by_factor + move.offset * here.by_offset;
      if (!(gain > 1e-9 * (1 + here.loss))) break;
      double part = 1;
      const auto moved = [&] {
        return Point{at.factor - part * move.factor, at.offset - part * move.offset};
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
  const float* values(std::size_t sample) const {
    return scores_.values.data() + sample * scores_.classes;
  }
  bool counts(std::size_t sample) const {
    const int label = scores_.label[sample];
    return label == kKnownLabel || values(sample)[label] != kNoRow;
  }

  // By the factor's change: usual * value.
  double slope(float value) const { return usual_ * double{value}; }

  void add_softmax(std::size_t sample, const Point& at, Local& sum) const {
    double most = scores_.known[sample];
    const float* v = values(sample);
    for (std::size_t k = 0; k < scores_.classes; ++k)
      if (v[k] != kNoRow) most = std::max(most, at.factor * slope(v[k]) + at.offset);
    double total = std::exp(scores_.known[sample] - most), x1 = 0, x2 = 0, p1 = 0;
    for (std::size_t k = 0; k < scores_.classes; ++k) {
      if (v[k] == kNoRow) continue;
      const double x = slope(v[k]), e = std::exp(at.factor * x + at.offset - most);
      total += e, p1 += e, x1 += e * x, x2 += e * x * x;
    }
    p1 /= total, x1 /= total, x2 /= total;
    const int label = scores_.label[sample];
    const bool fresh = label != kKnownLabel;
    const double own = fresh ? slope(v[label]) : 0;
    sum.loss +=
        most + std::log(total) - (fresh ? at.factor * own + at.offset : scores_.known[sample]);
    sum.by_factor += x1 - own;
    sum.by_offset += p1 - (fresh ? 1 : 0);
    sum.factor_twice += x2 - x1 * x1;
    sum.both += x1 - x1 * p1;
    sum.offset_twice += p1 - p1 * p1;
  }

  void add_sigmoids(std::size_t sample, const Point& at, Local& sum) const {
    const float* v = values(sample);
    for (std::size_t k = 0; k < scores_.classes; ++k) {
      if (v[k] == kNoRow) continue;
      const double x = slope(v[k]), y = at.factor * x + at.offset;
      const double target = scores_.label[sample] == static_cast<int>(k) ? 1 : 0;
      const double p = 1 / (1 + std::exp(-y)), steep = p * (1 - p);
      sum.loss += std::max(y, 0.0) + std::log1p(std::exp(-std::abs(y))) - target * y;
      sum.add(p, x, target);
      sum.factor_twice += steep * x * x;
      sum.both += steep * x;
      sum.offset_twice += steep;
    }
  }

  Local loss(const Point& at) const {
    const double far = at.factor - 1;
    Local sum;
    sum.loss = (far * far + kOffsetPrior * at.offset * at.offset) / 2;
    sum.by_factor = far, sum.factor_twice = 1;
    sum.by_offset = kOffsetPrior * at.offset, sum.offset_twice = kOffsetPrior;
    for (std::size_t i = 0; i < scores_.label.size(); ++i) {
      if (!counts(i)) continue;
      each_by_itself_ ? add_sigmoids(i, at, sum) : add_softmax(i, at, sum);
    }
    return sum;
  }

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
      if (values(sample)[k] != kNoRow)
        fresh += std::exp(slope(values(sample)[k]) + offset - scores_.known[sample]);
    return 1 - 1 / (1 + fresh);
  }
  double likeliest(std::size_t sample, double offset) const {
    const float* v = values(sample);
    const float most = *std::max_element(v, v + scores_.classes);
    return 1 / (1 + std::exp(-slope(most) - offset));
  }

  const ImprintScores& scores_;
  const double usual_;
  const bool each_by_itself_;
};

}  // namespace

ImprintFit fit_imprint(const ImprintScores& scores, double usual, bool each_by_itself) {
  const Fitting fitting(scores, usual, each_by_itself);
  const bool known = fitting.tells(true);
  if (!known) return {usual, 0, false};
  if (fitting.tells(false)) {
    const Point best = fitting.minimum();
    if (best.factor > 0 && std::isfinite(best.offset))
      return {best.factor * usual, best.offset, true};
  }
  return {usual, fitting.careful_offset(), false};
}

}  // namespace moil::night
