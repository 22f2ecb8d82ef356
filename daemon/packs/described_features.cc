#include "daemon/packs/described_features.h"

#include <algorithm>
#include <cmath>

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
  Description(const ClassifierRows& rows, std::size_t first, std::size_t count)
      : rows_(rows),
        first_(first),
        count_(count),
        answers_(count * rows.outputs),
        slopes_(count * rows.width),
        wanted_(count) {}

  void draw(double scale, Random& random, float* features) {
    for (std::size_t i = 0; i < count_; ++i) {
      wanted_[i] = kLeastSure + (kMostSure - kLeastSure) * random.unit();
      for (std::size_t j = 0; j < rows_.width; ++j) {
        const bool is_off = random.unit() < 0.5;
        const double loud = -scale * std::log1p(-random.unit());
        features[i * rows_.width + j] = is_off ? 0 : static_cast<float>(loud);
      }
    }
  }

  void move(float* features) {
    for (int step = 0; step < kMostSteps; ++step) {
      ask(features);
      if (!slope()) return;
      for (std::size_t i = 0; i < count_; ++i) {
        if (said(i) >= wanted_[i]) continue;
        const float* slope = slopes_.data() + i * rows_.width;
        const double length = square(slope, rows_.width);
        const double step_length = pace_of(step, rows_.each_by_itself);
        const auto pace = static_cast<float>(length > 0 ? step_length / length : 0);
        float* x = features + i * rows_.width;
        for (std::size_t j = 0; j < rows_.width; ++j) x[j] = std::max(0.0F, x[j] + pace * slope[j]);
      }
    }
  }

 private:
  float* answers_of(std::size_t i) { return answers_.data() + i * rows_.outputs; }
  double said(std::size_t i) { return double{answers_of(i)[first_ + i]}; }

  // Probabilities of all outputs.
  void ask(const float* features) {
    sgemm(Transpose::kNo, Transpose::kYes, wide(count_), wide(rows_.outputs), wide(rows_.width), 1,
          features, wide(rows_.width), rows_.weights.data(), wide(rows_.width), 0, answers_.data(),
          wide(rows_.outputs));
    for (std::size_t i = 0; i < count_; ++i) {
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

  // Of the log likelihood that each feature's output is said and no other. Whether any is to move.
  bool slope() {
    bool any = false;
    std::vector<float> lacks(answers_);
    for (std::size_t i = 0; i < count_; ++i) {
      any = any || said(i) < wanted_[i];
      lacks[i * rows_.outputs + first_ + i] -= 1;
    }
    if (any)
      sgemm(Transpose::kNo, Transpose::kNo, wide(count_), wide(rows_.width), wide(rows_.outputs),
            -1, lacks.data(), wide(rows_.outputs), rows_.weights.data(), wide(rows_.width), 0,
            slopes_.data(), wide(rows_.width));
    return any;
  }

  const ClassifierRows& rows_;
  const std::size_t first_, count_;
  std::vector<float> answers_;  // [count x outputs]
  std::vector<float> slopes_;   // [count x width]
  std::vector<double> wanted_;  // probabilities
};

// With which an element's root mean square is that of one over a row's length.
double usual_scale(const ClassifierRows& rows) {
  double length = 0;
  for (std::size_t k = 0; k < rows.outputs; ++k)
    length += std::sqrt(square(rows.weights.data() + k * rows.width, rows.width));
  return length > 0 ? static_cast<double>(rows.outputs) / length : 0;
}

}  // namespace

std::vector<float> describe_features(const ClassifierRows& rows, std::uint64_t draw) {
  std::vector<float> features(rows.outputs * rows.width);
  Random random(derive_seed(draw, "described features"));
  const double scale = usual_scale(rows);
  for (std::size_t first = 0; first < rows.outputs; first += kAtOnce) {
    Description some(rows, first, std::min(kAtOnce, rows.outputs - first));
    float* of_some = features.data() + first * rows.width;
    some.draw(scale, random, of_some);
    some.move(of_some);
  }
  return features;
}

}  // namespace moil::packs
