#include "daemon/packs/described_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/index.h"
#include "base/random.h"
#include "engine/kernels/gemm/gemm.h"

namespace moil::packs {
namespace {

constexpr std::size_t kAtOnce = 256;  // features
constexpr int kMostSteps = 200;
constexpr double kStep = 0.5;                         // of an output, as far as the slope tells
constexpr double kLeastSure = 0.3, kMostSure = 0.98;  // probabilities

// If outputs are sigmoids, the labels that are not said hold back the one that is: steps become
// longer.
double pace_of(int step, bool each_by_itself) {
  constexpr double kGrowth = 1.05, kLongest = 8;
  return each_by_itself ? std::min(kStep * std::pow(kGrowth, step), kLongest) : kStep;
}

double square(const float* row, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += double{row[i]} * double{row[i]};
  return sum;
}

// The features of some outputs, in turn.
class Description {
 public:
  Description(const ClassifierRows& rows, std::span<const std::size_t> outputs)
      : rows_(rows),
        features_(outputs.size() * rows.width),
        outputs_(outputs.begin(), outputs.end()),
        places_(outputs.size()),
        wanted_(outputs.size()) {
    std::iota(places_.begin(), places_.end(), std::size_t{0});
  }

  void draw(double scale, Random& random) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      wanted_[i] = kLeastSure + (kMostSure - kLeastSure) * random.unit();
      for (std::size_t j = 0; j < rows_.width; ++j) {
        const bool is_off = random.unit() < 0.5;
        const double loud = -scale * std::log1p(-random.unit());
        feature(i)[j] = is_off ? 0 : static_cast<float>(loud);
      }
    }
  }

  // to: [outputs x width].
  void move(float* to) {
    for (int step = 0; step < kMostSteps && !outputs_.empty(); ++step) {
      ask();
      keep_those_that_are_said(to);
      slope();
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const float* slope = slopes_.data() + i * rows_.width;
        const double length = square(slope, rows_.width);
        const double step_length = pace_of(step, rows_.each_by_itself);
        const auto pace = static_cast<float>(length > 0 ? step_length / length : 0);
        float* x = feature(i);
        for (std::size_t j = 0; j < rows_.width; ++j) x[j] = std::max(0.0F, x[j] + pace * slope[j]);
      }
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) keep(i, to);
  }

 private:
  float* feature(std::size_t i) { return features_.data() + i * rows_.width; }
  float* answers_of(std::size_t i) { return answers_.data() + i * rows_.outputs; }

  void keep(std::size_t i, float* to) {
    std::copy_n(feature(i), rows_.width, to + places_[i] * rows_.width);
  }

  // These are done; the last ones take their places.
  void keep_those_that_are_said(float* to) {
    for (std::size_t i = outputs_.size(); i-- > 0;) {
      if (double{answers_of(i)[outputs_[i]]} < wanted_[i]) continue;
      keep(i, to);
      const std::size_t last = outputs_.size() - 1;
      std::copy_n(feature(last), rows_.width, feature(i));
      std::copy_n(answers_of(last), rows_.outputs, answers_of(i));
      outputs_[i] = outputs_[last];
      places_[i] = places_[last];
      wanted_[i] = wanted_[last];
      outputs_.pop_back();
    }
  }

  // Probabilities of all outputs.
  void ask() {
    const std::size_t count = outputs_.size();
    answers_.resize(count * rows_.outputs);
    sgemm(Transpose::kNo, Transpose::kYes, wide(count), wide(rows_.outputs), wide(rows_.width), 1,
          features_.data(), wide(rows_.width), rows_.weights.data(), wide(rows_.width), 0,
          answers_.data(), wide(rows_.outputs));
    for (std::size_t i = 0; i < count; ++i) {
      float* out = answers_of(i);
      for (std::size_t k = 0; k < rows_.outputs; ++k) out[k] += rows_.bias[k];
      if (rows_.each_by_itself) {
        for (std::size_t k = 0; k < rows_.outputs; ++k) out[k] = 1 / (1 + std::exp(-out[k]));
        continue;
      }
      const float most = *std::max_element(out, out + rows_.outputs);
      double sum = 0;
      for (std::size_t k = 0; k < rows_.outputs; ++k)
        sum += double{out[k] = std::exp(out[k] - most)};
      for (std::size_t k = 0; k < rows_.outputs; ++k)
        out[k] = static_cast<float>(double{out[k]} / sum);
    }
  }

  // Of the log likelihood that each feature's output is said and no other.
  void slope() {
    const std::size_t count = outputs_.size();
    if (count == 0) return;
    slopes_.resize(count * rows_.width);
    for (std::size_t i = 0; i < count; ++i) answers_of(i)[outputs_[i]] -= 1;
    sgemm(Transpose::kNo, Transpose::kNo, wide(count), wide(rows_.width), wide(rows_.outputs), -1,
          answers_.data(), wide(rows_.outputs), rows_.weights.data(), wide(rows_.width), 0,
          slopes_.data(), wide(rows_.width));
  }

  const ClassifierRows& rows_;
  // Of those that are on their way, a row each.
  std::vector<float> features_, answers_, slopes_;
  std::vector<std::size_t> outputs_, places_;  // places: among all that were given
  std::vector<double> wanted_;                 // probabilities
};

// With which an element's root mean square is that of one over a row's length.
double usual_scale(const ClassifierRows& rows) {
  double length = 0;
  for (std::size_t k = 0; k < rows.outputs; ++k)
    length += std::sqrt(square(rows.weights.data() + k * rows.width, rows.width));
  return length > 0 ? static_cast<double>(rows.outputs) / length : 0;
}

}  // namespace

std::vector<float> describe_features(const ClassifierRows& rows, std::uint64_t draw,
                                     std::size_t step) {
  std::vector<std::size_t> outputs;
  for (std::size_t k = 0; k < rows.outputs; k += step) outputs.push_back(k);
  std::vector<float> features(outputs.size() * rows.width);
  Random random(derive_seed(draw, "described features"));
  const double scale = usual_scale(rows);
  for (std::size_t first = 0; first < outputs.size(); first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, outputs.size() - first);
    Description some(rows, std::span(outputs).subspan(first, count));
    some.draw(scale, random);
    some.move(features.data() + first * rows.width);
  }
  return features;
}

}  // namespace moil::packs
