// Optimizers over several steps, clipping included, and schedules over a whole run.
#include <gtest/gtest.h>

#include "engine/train/clip.h"
#include "engine/train/optimizer.h"
#include "engine/train/schedule.h"
#include "tests/parity/cases.h"

namespace moil::test {
namespace {

OptimizerConfig optimizer_config(const Json& c) {
  OptimizerConfig config;
  config.kind = optimizer_kind(c.at("kind").get<std::string>());
  config.learning_rate = c.value("learning_rate", config.learning_rate);
  config.weight_decay = c.value("weight_decay", config.weight_decay);
  config.momentum = c.value("momentum", config.momentum);
  config.nesterov = c.value("nesterov", config.nesterov);
  config.beta1 = c.value("beta1", config.beta1);
  config.beta2 = c.value("beta2", config.beta2);
  config.epsilon = c.value("epsilon", config.epsilon);
  return config;
}

struct Weight {
  std::vector<float> values, gradient;
  std::vector<std::vector<float>> states;
};

std::vector<Weight> starting_weights(const Json& c, const Optimizer& optimizer) {
  std::vector<Weight> weights;
  for (const Json& place : c.at("start")) {
    Weight w{Cases::get()->tensor(place).values, {}, {}};
    w.states.assign(optimizer.state_tensors().size(), std::vector<float>(w.values.size(), 0.0F));
    weights.push_back(std::move(w));
  }
  return weights;
}

void apply(const Optimizer& optimizer, Weight& w, double rate, double scale, std::int64_t step) {
  std::vector<float*> states;
  for (auto& s : w.states) states.push_back(s.data());
  optimizer.apply({w.values.data(), w.gradient.data(), states,
                   static_cast<std::int64_t>(w.values.size()), true, rate, scale, step});
}

void check_optimizer(const Json& c) {
  const Cases& cases = *Cases::get();
  const auto optimizer = make_optimizer(optimizer_config(c.at("config")));
  auto weights = starting_weights(c, *optimizer);
  std::int64_t step = 0;
  for (const Json& s : c.at("steps")) {
    ++step;
    std::vector<GradientView> views;
    for (std::size_t w = 0; w < weights.size(); ++w) {
      weights[w].gradient = cases.tensor(s.at("gradients")[w]).values;
      views.push_back(
          {weights[w].gradient.data(), static_cast<std::int64_t>(weights[w].gradient.size())});
    }
    const double scale = clip_factor(global_norm(views), c.at("clip_norm").get<double>());
    for (std::size_t w = 0; w < weights.size(); ++w) {
      apply(*optimizer, weights[w], s.at("rate").get<double>(), scale, step);
      expect_close(weights[w].values, cases.tensor(s.at("weights")[w]).values,
                   "weight " + std::to_string(w) + " after step " + std::to_string(step));
    }
  }
}

TEST(OptimizerParity, AgreesWithPyTorchStepByStep) {
  MOIL_NEEDS_PARITY_CASES();
  const auto found = Cases::get()->of_kind("optimizer");
  ASSERT_GE(found.size(), 40U);
  for (const Json* c : found) {
    SCOPED_TRACE(c->at("name").get<std::string>());
    check_optimizer(*c);
  }
}

ScheduleConfig schedule_config(const Json& c) {
  ScheduleConfig config;
  config.kind = schedule_kind(c.at("kind").get<std::string>());
  config.gamma = c.value("gamma", config.gamma);
  config.step_epochs = c.value("step_epochs", config.step_epochs);
  config.final_rate = c.value("final_rate", config.final_rate);
  config.warmup_epochs = c.value("warmup_epochs", config.warmup_epochs);
  config.warmup_start = c.value("warmup_start", config.warmup_start);
  return config;
}

TEST(ScheduleParity, AgreesWithPyTorchStepByStep) {
  MOIL_NEEDS_PARITY_CASES();
  const auto found = Cases::get()->of_kind("schedule");
  ASSERT_GE(found.size(), 15U);
  for (const Json* c : found) {
    SCOPED_TRACE(c->at("name").get<std::string>());
    const ScheduleConfig config = schedule_config(c->at("config"));
    const auto rates = c->at("rates").get<std::vector<double>>();
    const auto total = c->at("total_steps").get<std::int64_t>();
    ASSERT_EQ(static_cast<std::int64_t>(rates.size()), total);
    for (std::int64_t step = 0; step < total; ++step) {
      const double rate = learning_rate(config, c->at("base").get<double>(), step, total,
                                        c->at("steps_per_epoch").get<std::int64_t>());
      ASSERT_NEAR(rate, rates[static_cast<std::size_t>(step)], 1e-9) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace moil::test
