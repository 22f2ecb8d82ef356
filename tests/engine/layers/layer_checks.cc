// The checks of layer_harness.h that hold for every layer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/kernels/parallel.h"
#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

constexpr double kStep = 2e-3;

double weighted_output(LayerHarness& harness) {
  harness.forward();
  double total = 0;
  for (std::size_t o = 0; o < harness.outputs(); ++o) {
    for (std::size_t i = 0; i < harness.output(o).size(); ++i) {
      total += static_cast<double>(harness.output(o)[i]) *
               static_cast<double>(harness.output_derivative(o)[i]);
    }
  }
  return total;
}

// set(values) installs them; the analytic derivative at up to 64 places against differences.
template <class Set>
void expect_derivative(LayerHarness& harness, const std::vector<float>& values,
                       const std::vector<float>& analytic, double tolerance,
                       const std::string& what, const Set& set) {
  double largest = 1e-3;
  for (const float a : analytic) {
    ASSERT_FALSE(std::isnan(a)) << what << ": NaN: read something undeclared, or not written";
    largest = std::max(largest, std::abs(static_cast<double>(a)));
  }
  const std::size_t stride = std::max<std::size_t>(1, values.size() / 64);
  for (std::size_t i = 0; i < values.size(); i += stride) {
    auto moved = values;
    moved[i] = static_cast<float>(values[i] + kStep);
    const double up = moved[i];
    set(moved);
    const double high = weighted_output(harness);
    moved[i] = static_cast<float>(values[i] - kStep);
    const double down = moved[i];
    set(moved);
    const double low = weighted_output(harness);
    EXPECT_NEAR(static_cast<double>(analytic[i]), (high - low) / (up - down), tolerance * largest)
        << what << " at " << i;
  }
  set(values);
}

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b,
                      const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin())) << what;  // NaN differs from itself
}

void expect_same_results(LayerHarness& a, LayerHarness& b, const std::string& what) {
  for (std::size_t o = 0; o < a.outputs(); ++o)
    expect_same_bits(a.output(o), b.output(o), what + ": output " + std::to_string(o));
  for (std::size_t i = 0; i < a.setup().inputs.size(); ++i) {
    if (a.setup().input_needs_derivative[i])
      expect_same_bits(a.input_derivative(i), b.input_derivative(i),
                       what + ": derivative " + std::to_string(i));
  }
  for (std::size_t w = 0; w < a.weight_specs().size(); ++w) {
    if (a.setup().train_weight[w])
      expect_same_bits(a.gradient(w), b.gradient(w), what + ": gradient " + std::to_string(w));
  }
}

void expect_accumulates(const LayerSpec& spec, const HarnessOptions& options) {
  LayerHarness harness(spec, options);
  if (!harness.setup().computes_gradient()) return;
  harness.forward();
  harness.backward();
  std::vector<std::vector<float>> once;
  for (std::size_t w = 0; w < harness.weight_specs().size(); ++w)
    once.push_back(harness.gradient(w));
  harness.forward();  // backward may use up what F saved
  harness.backward(true);
  for (std::size_t w = 0; w < once.size(); ++w) {
    if (!harness.setup().train_weight[w]) continue;
    const auto twice = harness.gradient(w);
    for (std::size_t i = 0; i < twice.size(); ++i)
      EXPECT_NEAR(twice[i], 2 * once[w][i], 1e-5F * (1 + std::abs(once[w][i])));
  }
}

std::vector<float> sample_of(const std::vector<float>& values, std::int64_t batch,
                             std::int64_t sample) {
  const auto size = static_cast<std::int64_t>(values.size()) / batch;
  return {values.begin() + sample * size, values.begin() + (sample + 1) * size};
}

}  // namespace

void expect_gradients(const LayerSpec& spec, HarnessOptions options, double tolerance) {
  SCOPED_TRACE(spec.type);
  LayerHarness harness(spec, options);
  harness.forward();
  harness.backward();
  options.in_place = true;
  LayerHarness in_place(spec, options);
  in_place.forward();
  in_place.backward();
  expect_same_results(harness, in_place, "in place");
  expect_accumulates(spec, options);

  LayerHarness probe(spec, options);
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    if (!harness.setup().input_needs_derivative[i]) continue;
    expect_derivative(probe, harness.input(i), harness.input_derivative(i), tolerance,
                      "input " + std::to_string(i),
                      [&](const auto& values) { probe.set_input(i, values); });
  }
  for (std::size_t w = 0; w < harness.weight_specs().size(); ++w) {
    if (!harness.setup().train_weight[w]) continue;
    expect_derivative(probe, harness.weight(w), harness.gradient(w), tolerance,
                      harness.weight_specs()[w].name,
                      [&](const auto& values) { probe.set_weight(w, values); });
  }
}

void expect_thread_independent(const LayerSpec& spec, HarnessOptions options) {
  SCOPED_TRACE(spec.type);
  const int before = thread_count();
  set_thread_count(1);
  LayerHarness one(spec, options);
  one.forward();
  one.backward();
  set_thread_count(3);
  LayerHarness three(spec, options);
  three.forward();
  three.backward();
  set_thread_count(before);
  expect_same_results(one, three, "threads");
}

void expect_batch_independent(const LayerSpec& spec) {
  SCOPED_TRACE(spec.type);
  HarnessOptions options;
  options.training = false;
  options.train_weight.assign(8, false);
  options.input_needs_derivative.assign(spec.inputs.size(), false);
  LayerHarness whole(spec, options);
  whole.forward();
  const std::int64_t batch = spec.inputs[0][0];
  for (std::int64_t sample = 0; sample < batch; ++sample) {
    LayerSpec single = spec;
    for (auto& dims : single.inputs) dims = dims.with_batch(1);
    if (!single.lengths.empty()) single.lengths.resize(1);
    LayerHarness alone(single, options);
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
      alone.set_input(i, sample_of(whole.input(i), batch, sample));
    alone.forward();
    expect_same_bits(sample_of(whole.output(), batch, sample), alone.output(),
                     "sample " + std::to_string(sample));
  }
}

}  // namespace moil::test
