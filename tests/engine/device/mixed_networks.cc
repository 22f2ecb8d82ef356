#include "tests/engine/device/mixed_networks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace moil::test {

NetworkOptions mixed_options(const ModelDescription& prepared, bool clips) {
  NetworkOptions options{.batch = kMixedBatch, .plan = {}};
  options.plan.training = true;
  options.plan.optimizer_states = 1;
  options.plan.clip_by_global_norm = clips;
  for (const Node& node : build_graph(prepared, kMixedBatch).nodes)
    for (const WeightSpec& weight : node.weights)
      if (weight.trainable) options.plan.trainable.insert(weight_name(node, weight));
  return options;
}

Assignment any_mix(const ModelDescription& prepared, unsigned seed, std::size_t others) {
  std::mt19937 random(seed);
  Assignment assignment = everything_on(kSecondProcessor, build_graph(prepared, kMixedBatch));
  for (auto& [layer, steps] : assignment)
    for (ProcessorId& step : steps) step = static_cast<ProcessorId>(random() % (others + 1));
  return assignment;
}

double largest(const std::vector<float>& values) {
  double most = 0;
  for (const float v : values) most = std::max(most, std::abs(double{v}));
  return most;
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    error = std::max(error, std::isfinite(a[i]) ? std::abs(double{a[i]} - double{b[i]}) : 1e9);
  return error;
}

TrainingRun rounded_run(const ModelDescription& prepared, const NetworkOptions& options,
                        WeightMap weights, int steps) {
  unsigned salt = 0;
  for (auto& [name, tensor] : weights) {
    const auto noise = random_values(static_cast<std::int64_t>(tensor.data.size()), 900 + ++salt);
    for (std::size_t i = 0; i < noise.size(); ++i) tensor.data[i] *= 1 + 2e-7F * noise[i];
  }
  return train(prepared, options, weights, steps);
}

void expect_same(const TrainingRun& found, const TrainingRun& expected, const TrainingRun& rounded,
                 const std::string& what) {
  EXPECT_LT(difference(found.losses, expected.losses), 1e-4 * largest(expected.losses)) << what;
  double most[2] = {0, 0};
  const auto is_state = [](const std::string& name) { return name.find("/state") < name.size(); };
  for (const auto& [name, values] : expected.tensors)
    most[is_state(name)] = std::max(most[is_state(name)], largest(values));
  for (const auto& [name, values] : expected.tensors)
    EXPECT_LT(difference(found.tensors.at(name), values),
              std::max(1e-4 * std::max(largest(values), 0.1 * most[is_state(name)]),
                       10 * difference(rounded.tensors.at(name), values)))
        << what << ": " << name;
}

void expect_planned_transfers(const ModelDescription& prepared, const NetworkOptions& options) {
  KernelSelector kernels = fixed_kernels();
  Network network(prepared, options, kernels);
  network.allocate();
  network.load(random_weights(prepared, 1));
  GradientRecorder recorder;
  network.train_step(1, &recorder);
  const std::uint64_t after_first = network.transfers();
  network.train_step(2, &recorder);
  std::size_t planned = 0;
  for (const ProcessorPlan& plan : network.plan().processors) {
    EXPECT_GT(plan.transfers.size(), 0u);
    planned += plan.transfers.size();
  }
  EXPECT_EQ(network.transfers() - after_first, planned);
}

void expect_mixes_as_on_the_cpu(const std::vector<std::shared_ptr<Processor>>& processors,
                                unsigned seeds,
                                const std::function<void(unsigned seed, NetworkOptions&)>& change) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const ModelDescription prepared = test::prepared(random_model(seed));
    const WeightMap weights = random_weights(prepared, seed);
    NetworkOptions options = mixed_options(prepared, seed % 5 == 0);
    const TrainingRun expected = train(prepared, options, weights, 2);
    const TrainingRun rounded = rounded_run(prepared, options, weights, 2);
    options.plan.processors = processors;
    options.plan.assignment = any_mix(prepared, seed, processors.size());
    if (change) change(seed, options);
    expect_same(train(prepared, options, weights, 2), expected, rounded,
                "seed " + std::to_string(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace moil::test
