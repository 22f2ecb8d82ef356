// Layers and optimizers that a program adds: made, planned and trained as the built-in ones are.
#include "engine/custom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/model/initial_weights.h"
#include "engine/train/trainer.h"
#include "tests/engine/custom/example.h"
#include "tests/engine/layers/layer_harness.h"
#include "tests/engine/run/training.h"
#include "tests/engine/train/toy_source.h"
#include "tests/errors.h"

namespace moil {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;

class CustomTest : public ::testing::Test {
 protected:
  CustomTest() {
    example::register_learned_clip();
    example::register_lion();
  }
};

OptimizerConfig lion(double rate = 0.003) {
  OptimizerConfig config;
  config.custom = "lion";
  config.learning_rate = rate;
  config.weight_decay = 0.01;
  config.parameters = {{"beta1", 0.8}};
  return config;
}

// Applies an optimizer to a network that is stepped by hand.
class Updater : public WeightUpdater {
 public:
  explicit Updater(const OptimizerConfig& config)
      : rate_(config.learning_rate), optimizer_(make_optimizer(config)) {}
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& u) override {
    optimizer_->apply({u.weight, u.gradient, u.states, u.elements, u.decays, rate_, 1.0, 1});
  }

 private:
  double rate_;
  std::unique_ptr<Optimizer> optimizer_;
};

// Convolution - learned clip - pooling - classifier.
ModelDescription model() {
  ModelBuilder b({3, 8, 8});
  b.conv(6, 3).layer("learned_clip", {{"floor", -0.25}}, {}, "clip");
  return b.conv(8, 3).layer("learned_clip").layer("global_average_pool").fc(3).model();
}

NetworkOptions options_of(const ModelDescription& model) {
  NetworkOptions options = test::training_options(model, 5);
  options.plan.optimizer_states = static_cast<int>(make_optimizer(lion())->state_tensors().size());
  options.swap_folder = std::filesystem::temp_directory_path();
  return options;
}

TEST_F(CustomTest, TheLayersGradientsAgreeWithFiniteDifferences) {
  const Properties floor = {{"floor", -0.45}};
  // So few values that none lies near enough to a kink for a difference to cross it.
  for (const Dims& dims : {Dims{5, 3}, Dims{2, 3, 4, 2}}) {
    test::expect_gradients({"learned_clip", floor, {dims}});
    test::expect_gradients({"learned_clip", floor, {dims}}, {.train_weight = {false}});
    test::expect_gradients({"learned_clip", floor, {dims}}, {.input_needs_derivative = {false}});
  }
  for (const Dims& dims : {Dims{40, 130}, Dims{3, 40, 17, 15}}) {
    test::expect_thread_independent({"learned_clip", {}, {dims}});
    test::expect_batch_independent({"learned_clip", {}, {dims}});
  }
}

TEST_F(CustomTest, TheLayersErrorsNameIt) {
  EXPECT_THAT(test::error_of({"learned_clip", {{"roof", 1.0}}, {Dims{2, 3}}}), HasSubstr("roof"));
  EXPECT_THAT(test::error_of({"learned_clip", {}, {Dims{2, 3}, Dims{2, 3}}}),
              HasSubstr("takes 1 input"));
}

TEST_F(CustomTest, GradientsInsideANetworkAreTheLossesSlope) {
  test::expect_slopes(model(), 8, 2e-3, 0.02, 2e-4);  // few elements cross a kink
}

TEST_F(CustomTest, ThePlanShowsTheirTensors) {
  KernelSelector kernels = test::fixed_kernels();
  const NetworkPlan plan =
      plan_network(build_graph(test::prepared(model()), 5), options_of(model()).plan, kernels);
  std::map<std::string, TensorId> ids;
  for (TensorId id = 0; id < static_cast<TensorId>(plan.pool.size()); ++id)
    ids[plan.pool.spec(id).name] = id;
  const auto spec = [&](const std::string& name) { return plan.pool.spec(ids.at(name)); };
  EXPECT_EQ(spec("clip/sides").kind, TensorKind::kSaved);
  EXPECT_EQ(spec("clip/sides").info.bytes(), 5u * 6 * 8 * 8);
  EXPECT_EQ(spec("clip/workspace CG").kind, TensorKind::kWorkspace);
  EXPECT_EQ(spec("clip.ceiling").kind, TensorKind::kWeight);
  EXPECT_EQ(spec("clip.ceiling/gradient").kind, TensorKind::kGradient);
  EXPECT_EQ(spec("clip.ceiling/state0").kind, TensorKind::kOptimizerState);
  EXPECT_TRUE(plan.pool.is_always(ids.at("clip.ceiling/state0")));
  EXPECT_EQ(plan.pool.owner(ids.at("clip")), ids.at("conv2d0"));  // in place, in training too
  EXPECT_EQ(plan.pool.owner(ids.at("conv2d0/derivative")), ids.at("clip/derivative"));
  std::vector<int> steps;  // of the layer's code
  for (std::size_t order = 0; order < plan.program.size(); ++order)
    if (plan.program[order].node == 1 && plan.program[order].kind != StepKind::kApplyGradient)
      steps.push_back(static_cast<int>(order));
  EXPECT_EQ(steps.size(), 3u);
  EXPECT_EQ(plan.pool.orders(ids.at("clip/sides")), steps);
}

TEST_F(CustomTest, NeitherSharingNorSwappingChangesABit) {
  NetworkOptions options = options_of(model());
  const WeightMap weights = test::random_weights(model(), 2);
  const auto run = [&] {
    Updater updater(lion());
    return test::train(test::prepared(model()), options, weights, 4, &updater);
  };
  const auto shared = run();
  options.plan.share_memory = false;
  EXPECT_TRUE(run() == shared);
  options.plan.share_memory = true;
  options.plan.swap.smallest_bytes = 1;
  for (const SwapMode mode : {SwapMode::kOnDemand, SwapMode::kReduced, SwapMode::kProactive}) {
    options.plan.swap.mode = mode;
    EXPECT_TRUE(run() == shared) << to_string(mode);
  }
  EXPECT_TRUE(shared.tensors.contains("clip.ceiling/state0"));
  EXPECT_NE(shared.tensors.at("clip.ceiling"), weights.at("clip.ceiling").data);
}

TEST_F(CustomTest, TrainingLowersTheLoss) {
  const ModelDescription mlp =
      ModelBuilder({12}).fc(16).layer("learned_clip").layer("dropout").fc(3).model();
  TrainerConfig config;
  config.optimizer = lion();
  config.clip_norm = 1;
  config.batch = 8;
  config.epochs = 12;
  KernelSelector kernels = test::fixed_kernels();
  Trainer trainer(mlp, nullptr, config, kernels);
  trainer.allocate(initial_weights(build_graph(mlp, 1), 1));
  test::ToySource source(48, 12);
  std::vector<double> losses;
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t epoch) { return test::rotated(48, epoch); };
  callbacks.on_epoch = [&](const EpochSummary& s) { losses.push_back(s.loss); };
  EXPECT_TRUE(trainer.run(source, callbacks));
  EXPECT_LT(losses.back(), 0.4 * losses.front());
}

TEST_F(CustomTest, TheOptimizerStepsAsItsFormulaSays) {
  OptimizerConfig config = lion(0.1);
  config.weight_decay = 0.5;
  const auto optimizer = make_optimizer(config);
  std::vector<float> weight = {1, 1, 1, 1}, momentum = {0, 1, -1, 0};
  const std::vector<float> gradient = {2, -3, 5, 0};
  float* const state[] = {momentum.data()};
  optimizer->apply({weight.data(), gradient.data(), state, 4, true, 0.1, 0.5, 1});
  // 0.8 m + 0.2 g / 2 = 0.2, 0.5, -0.3, 0; 0.99 m + 0.01 g / 2
  EXPECT_THAT(weight, ::testing::Pointwise(::testing::FloatEq(), {0.85F, 0.85F, 1.05F, 0.95F}));
  EXPECT_THAT(momentum,
              ::testing::Pointwise(::testing::FloatNear(1e-6F), {0.01F, 0.975F, -0.965F, 0.0F}));
}

TEST_F(CustomTest, OptimizersAreFoundByName) {
  EXPECT_THAT(custom_optimizer_types(), ::testing::Contains("lion"));
  OptimizerConfig config = lion();
  config.custom = "tiger";
  EXPECT_THAT(test::error_of([&] { (void)make_optimizer(config); }),
              ::testing::AllOf(HasSubstr("\"tiger\""), HasSubstr("lion")));
  config = lion();
  config.parameters["beta3"] = 0.5;
  EXPECT_THAT(test::error_of([&] { (void)make_optimizer(config); }),
              HasSubstr("optimizer \"lion\": unknown property \"beta3\""));
  config = lion();
  config.parameters["beta2"] = 1.5;
  EXPECT_THAT(test::error_of([&] { (void)make_optimizer(config); }), HasSubstr("beta2"));
  config = {};
  config.parameters["beta1"] = 0.5;
  EXPECT_THAT(test::error_of([&] { (void)make_optimizer(config); }), HasSubstr("parameters"));
  EXPECT_THAT(test::error_of([] { register_optimizer("adam", {}); }), HasSubstr("built in"));
}

}  // namespace
}  // namespace moil
