#include "engine/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/kernels/parallel.h"
#include "tests/errors.h"

namespace moil {
namespace {

// A tensor of n equal elements under an optimizer: every element must go the same way.
class Weights {
 public:
  Weights(const OptimizerConfig& config, std::size_t n, float start)
      : optimizer_(make_optimizer(config)), weight_(n, start), rate_(config.learning_rate) {
    for (std::size_t s = 0; s < optimizer_->state_tensors().size(); ++s) {
      states_.emplace_back(n, 0.0F);
      pointers_.push_back(states_.back().data());
    }
  }

  double step(float gradient, bool decays = true, double scale = 1) {
    const std::vector<float> gradients(weight_.size(), gradient);
    std::vector<float*> pointers;
    for (auto& s : states_) pointers.push_back(s.data());
    optimizer_->apply({weight_.data(), gradients.data(), pointers,
                       static_cast<std::int64_t>(weight_.size()), decays, rate_, scale, ++steps_});
    for (const float w : weight_) EXPECT_EQ(w, weight_[0]);
    return static_cast<double>(weight_[0]);
  }

  const std::vector<float>& values() const { return weight_; }

 private:
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<float> weight_;
  std::vector<std::vector<float>> states_;
  std::vector<float*> pointers_;
  double rate_;
  std::int64_t steps_ = 0;
};

OptimizerConfig config_of(OptimizerKind kind) {
  OptimizerConfig config;
  config.kind = kind;
  config.learning_rate = 0.1;
  return config;
}

TEST(Optimizers, TakeTheirDefaultMomentum) {
  for (const auto kind :
       {OptimizerKind::kSgd, OptimizerKind::kSgdw, OptimizerKind::kAdam, OptimizerKind::kAdamw}) {
    auto config = config_of(kind);
    config.momentum = default_momentum(kind);
    EXPECT_NO_THROW((void)make_optimizer(config)) << to_string(kind);
  }
  EXPECT_EQ(default_momentum(OptimizerKind::kSgdw), 0.9);
}

TEST(Sgd, PlainByHand) {
  auto config = config_of(OptimizerKind::kSgd);
  config.weight_decay = 0.5;
  Weights weights(config, 37, 2);
  EXPECT_NEAR(weights.step(1), 2 - 0.1 * (1 + 0.5 * 2), 1e-6);
  EXPECT_NEAR(weights.step(1, false), 1.8 - 0.1, 1e-6);
  EXPECT_NEAR(weights.step(10, false, 0.1), 1.7 - 0.1, 1e-6);
  EXPECT_TRUE(make_optimizer(config)->state_tensors().empty());
}

TEST(Sgd, MomentumAndNesterovByHand) {
  auto config = config_of(OptimizerKind::kSgd);
  config.momentum = 0.9;
  Weights plain(config, 19, 1);
  EXPECT_NEAR(plain.step(1), 1 - 0.1, 1e-6);
  EXPECT_NEAR(plain.step(2), 0.9 - 0.1 * (0.9 * 1 + 2), 1e-6);
  config.nesterov = true;
  Weights nesterov(config, 19, 1);
  EXPECT_NEAR(nesterov.step(1), 1 - 0.1 * (1 + 0.9), 1e-6);
  EXPECT_NEAR(nesterov.step(2), 0.81 - 0.1 * (2 + 0.9 * 2.9), 1e-6);
}

TEST(Sgdw, DecayStaysOutOfTheMomentum) {
  auto config = config_of(OptimizerKind::kSgdw);
  config.momentum = 0.9;
  config.weight_decay = 0.5;
  Weights weights(config, 19, 2);
  EXPECT_NEAR(weights.step(1), 2 * (1 - 0.05) - 0.1, 1e-6);
  EXPECT_NEAR(weights.step(0), 1.8 * 0.95 - 0.1 * 0.9, 1e-6);
  EXPECT_NEAR(weights.step(0, false), 1.62 - 0.1 * 0.81, 1e-6);
}

// The first step of Adam is the learning rate in the gradient's direction, whatever its size.
TEST(Adam, ByHand) {
  const auto config = config_of(OptimizerKind::kAdam);
  Weights weights(config, 37, 1);
  EXPECT_NEAR(weights.step(1e-3F), 0.9, 1e-5);
  const double m = (0.9 * 0.1 * 1e-3 + 0.1 * 2e-3) / (1 - 0.81);
  const double v = (0.999 * 0.001 * 1e-6 + 0.001 * 4e-6) / (1 - 0.999 * 0.999);
  EXPECT_NEAR(weights.step(2e-3F), 0.9 - 0.1 * m / (std::sqrt(v) + 1e-8), 1e-5);
}

TEST(AdamAndAdamw, DecayByHand) {
  auto config = config_of(OptimizerKind::kAdam);
  config.weight_decay = 0.5;
  EXPECT_NEAR(Weights(config, 19, 1).step(-0.5F), 1, 1e-6);  // gradient and decay cancel
  config.kind = OptimizerKind::kAdamw;
  EXPECT_NEAR(Weights(config, 19, 1).step(-0.5F), 1 * 0.95 + 0.1, 1e-5);
  EXPECT_NEAR(Weights(config, 19, 1).step(-0.5F, false), 1 + 0.1, 1e-5);
}

TEST(Optimizers, DoNotDependOnThreads) {
  const int before = thread_count();
  for (const auto kind : {OptimizerKind::kSgd, OptimizerKind::kAdamw}) {
    auto config = config_of(kind);
    config.weight_decay = 0.01;
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 3}) {
      set_thread_count(threads);
      Weights weights(config, 200003, 1.37F);
      weights.step(0.3F);
      weights.step(-0.2F);
      results.push_back(weights.values());
    }
    EXPECT_EQ(results[0], results[1]);
  }
  set_thread_count(before);
}

TEST(Optimizers, NamesAreStableAndUnknownOnesRefused) {
  for (const char* name : {"sgd", "sgdw", "adam", "adamw"})
    EXPECT_EQ(to_string(optimizer_kind(name)), name);
  EXPECT_THROW((void)optimizer_kind("rmsprop"), Error);
}

TEST(Optimizers, RefuseNumbersOutOfRange) {
  EXPECT_NO_THROW((void)make_optimizer({}));
  const auto expect_refused = [](const char* name, const auto& spoil) {
    OptimizerConfig config;
    spoil(config);
    test::expect_error(ErrorCode::kInvalidArgument, name, [&] { (void)make_optimizer(config); });
  };
  expect_refused("learning_rate", [](auto& c) { c.learning_rate = -1; });
  expect_refused("weight_decay", [](auto& c) { c.weight_decay = std::nan(""); });
  expect_refused("momentum", [](auto& c) { c.momentum = 1; });
  expect_refused("nesterov", [](auto& c) { c.nesterov = true; });
  expect_refused("beta1", [](auto& c) { c.beta1 = 1; });
  expect_refused("beta2", [](auto& c) { c.beta2 = -0.1; });
  expect_refused("epsilon", [](auto& c) { c.epsilon = -1; });
}

}  // namespace
}  // namespace moil
