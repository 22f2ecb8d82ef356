// A small model with its timing profile.
#pragma once

#include <stdexcept>

#include "engine/elastic/timing_profiler.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"

namespace moil::test {

inline TrainerConfig profiled_config() {
  TrainerConfig c;
  c.optimizer.momentum = 0.9;
  c.batch = 8;
  return c;
}

struct Profiled {
  explicit Profiled(const ModelDescription& m, const std::set<std::string>* layers = nullptr)
      : kernels(fixed_kernels()),
        input(training_plan_input(m, layers, profiled_config())),
        graph(build_graph(input.model, profiled_config().batch)),
        profile(measure_timing(m, layers, profiled_config(), random_weights(m, 1), kernels, 3)) {}

  std::set<std::string> all() const { return input.options.plan.trainable; }
  const LayerTiming& layer(const std::string& name) const {
    for (const LayerTiming& layer : profile.layers) {
      if (layer.layer == name) return layer;
    }
    throw std::out_of_range(name);
  }

  KernelSelector kernels;
  TrainingPlanInput input;
  Graph graph;
  TimingProfile profile;
};

}  // namespace moil::test
