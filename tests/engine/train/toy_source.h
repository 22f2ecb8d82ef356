// Samples for tests of training: points of three clusters, and sources that fail.
#pragma once

#include <atomic>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "engine/train/batch_source.h"
#include "tests/engine/model/models.h"

namespace moil::test {

// Sample i is of class i % 3: noise, plus 1 if the class has its features.
class ToySource : public BatchSource {
 public:
  ToySource(std::int64_t samples, std::int64_t features, unsigned seed = 1)
      : samples_(samples), features_(features), inputs_(random_values(samples * features, seed)) {
    for (std::int64_t i = 0; i < samples * features; ++i) {
      if (i % features % 3 == i / features % 3) inputs_[static_cast<std::size_t>(i)] += 1;
    }
  }

  std::int64_t size() const override { return samples_; }

  void read(std::span<const std::int64_t> samples, const Batch& batch) override {
    float *inputs = batch.inputs[0].values.data(), *targets = batch.targets[0].values.data();
    if (fails_at >= 0 && reads >= fails_at) throw std::runtime_error("the disk is gone");
    ++reads;
    for (const std::int64_t s : samples) {
      const float* from = inputs_.data() + s * features_;
      inputs = std::copy(from, from + features_, inputs);
      for (std::int64_t c = 0; c < 3; ++c) *targets++ = s % 3 == c ? 1.0F : 0.0F;
    }
  }

  std::atomic<int> reads = 0;
  int fails_at = -1;  // the read() from which on it throws

 private:
  std::int64_t samples_, features_;
  std::vector<float> inputs_;
};

// Rotates the samples by an amount that depends on the epoch.
inline std::vector<std::int64_t> rotated(std::int64_t samples, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + (7 * epoch + 3) % samples, order.end());
  return order;
}

}  // namespace moil::test
