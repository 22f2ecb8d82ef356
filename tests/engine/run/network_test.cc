#include "engine/run/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"
#include "tests/engine/run/allocation_counter.h"
#include "tests/engine/run/training.h"
#include "tests/errors.h"
#include "tests/plain_build.h"

namespace moil {
namespace {

using test::GradientRecorder;
using test::ModelBuilder;
using test::SgdUpdater;
using test::Training;
using ::testing::ElementsAre;

// Everything differentiable that the engine has, without kinks.
ModelDescription smooth_model() {
  ModelBuilder b({2, 6, 6});
  const std::string skip = b.conv(4, 3).norm().layer("tanh").last();
  b.conv(4, 3, 1, 4).layer("silu").conv(4, 1).norm();
  const std::string sum = b.layer("add", {}, {b.last(), skip}).layer("gelu").last();
  b.layer("global_average_pool").fc(4).layer("sigmoid");
  const std::string gated = b.layer("multiply", {}, {sum, b.last()}).last();
  b.layer("average_pool", {{"kernel", std::int64_t{2}}}, {gated}, "pooled");
  b.conv(3, 3, 2).layer("concat", {}, {b.last()});
  b.layer("flatten").layer("dropout", {{"rate", 0.2}}).fc(6).layer("tanh").fc(3);
  return b.model();
}

TEST(NetworkTest, GradientsAreTheLossesSlope) {
  test::expect_slopes(smooth_model(), 18, 0.01, 0.01, 5e-5);
  test::expect_slopes(test::transformer_model(), 32, 0.01, 0.01, 5e-5);
}

// What each of 5,000 readers gives back reaches the layer before.
TEST(NetworkTest, AValueMayHaveThousandsOfReaders) {
  constexpr std::size_t kReaders = 5000;
  const auto gradients = [](std::size_t readers) {
    ModelBuilder b({4});
    const std::string shared = b.fc(3).last();
    b.layer("add", {}, std::vector<std::string>(readers, shared));
    Training t(b.model());
    for (const PersistentTensor& tensor : t.network().persistent()) {
      const auto values = tensor.data().values;
      std::fill(values.begin(), values.end(), 0.0F);  // the same answers, whatever the factor
    }
    return t.gradients(3);
  };
  const auto twice = gradients(2), often = gradients(kReaders);
  ASSERT_EQ(often.size(), 2U);
  for (const auto& [name, values] : often) {
    double most = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = double{twice.at(name)[i]} * kReaders / 2;
      EXPECT_NEAR(values[i], expected, 1e-3 * std::abs(expected) + 1e-6) << name;
      most = std::max(most, std::abs(expected));
    }
    EXPECT_GT(most, 1) << name;
  }
}

// The readers are layers of their own here.
TEST(NetworkTest, ThousandsOfLayersMayReadAValue) {
  constexpr int kReaders = 1200;  // planning so many takes its time
  ModelBuilder b({4});
  const std::string shared = b.fc(3).last();
  std::vector<std::string> read;
  for (int i = 0; i < kReaders; ++i) read.push_back(b.layer("tanh", {}, {shared}).last());
  b.layer("add", {}, read);
  Training t(b.model());
  EXPECT_TRUE(std::isfinite(t.loss(3)));
  EXPECT_EQ(t.gradients(3).size(), 2U);
}

// The same in one random direction through all tensors at once, where g is not privileged.
TEST(NetworkTest, GradientsAreRightAcrossTensors) {
  Training t(smooth_model());
  const auto gradients = t.gradients(5);
  const auto tensors = t.network().persistent();
  for (unsigned direction = 0; direction < 5; ++direction) {
    double expected = 0;
    std::vector<std::vector<float>> steps, before;
    for (const PersistentTensor& tensor : tensors) {
      const bool trained = tensor.kind == TensorKind::kWeight;
      steps.push_back(test::random_values(static_cast<std::int64_t>(tensor.elements),
                                          100 * direction + static_cast<unsigned>(steps.size())));
      const auto data = tensor.data().values;
      before.emplace_back(data.begin(), data.end());
      for (std::size_t i = 0; i < data.size(); ++i) {
        if (trained)
          expected += double(steps.back()[i]) * gradients.at(tensor.name)[i];
        else
          steps.back()[i] = 0;
      }
    }
    const auto loss_at = [&](double scale) {
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        for (std::size_t i = 0; i < before[k].size(); ++i)
          tensors[k].data().values[i] = static_cast<float>(before[k][i] + scale * steps[k][i]);
      }
      return t.loss(5);
    };
    const double distance = 3e-3;
    const double slope = (loss_at(distance) - loss_at(-distance)) / (2 * distance);
    loss_at(0);
    EXPECT_NEAR(slope, expected, 0.02 * std::abs(expected) + 5e-3);
  }
}

TEST(NetworkTest, NoStepAllocates) {
  MOIL_NEEDS_PLAIN_BUILD("the sanitizer has a heap of its own");
  for (const auto& model :
       {test::chain_model(), test::residual_model(), smooth_model(), test::transformer_model()}) {
    Training t(model, 8, 1, true);
    SgdUpdater updater;
    t.fill(1);
    t.network().train_step(1, &updater);  // libraries make their thread pools and buffers
    const auto before = test::allocations();
    for (unsigned step = 2; step < 6; ++step) t.network().train_step(step, &updater);
    t.network().forward(9);
    EXPECT_EQ(test::allocations() - before, 0u);
    EXPECT_GT(before, 0u);
  }
}

TEST(NetworkTest, NoInferenceAllocates) {
  MOIL_NEEDS_PLAIN_BUILD("the sanitizer has a heap of its own");
  const ModelDescription model = test::chain_model();
  WeightMap weights = test::random_weights(model, 1);
  KernelSelector kernels = test::fixed_kernels();
  Network network(prepare_inference(model, weights), {.batch = 4, .plan = {}}, kernels);
  network.allocate();
  network.load(weights);
  network.forward();
  const auto before = test::allocations();
  for (int run = 0; run < 5; ++run) network.forward();
  EXPECT_EQ(test::allocations() - before, 0u);
}

TEST(NetworkTest, PlansAndBuildsWithoutTensors) {
  KernelSelector kernels = test::fixed_kernels();
  Network network(test::chain_model(), {.batch = 2, .plan = {}}, kernels);
  EXPECT_GT(network.plan().memory.total_bytes, 0u);
  WeightMap weights = test::random_weights(test::chain_model(), 1);
  for (const std::function<void()>& early : {std::function<void()>([&] { network.forward(); }),
                                             {[&] { network.load(weights); }},
                                             {[&] { network.save(weights); }},
                                             {[&] { (void)network.input(0); }},
                                             {[&] { (void)network.persistent(); }},
                                             {[&] { network.train_step(0, nullptr); }}})
    EXPECT_NE(test::error_of(early, ErrorCode::kFailedPrecondition), "");
}

TEST(NetworkTest, WeightsThatDoNotFitAreNamedAndChangeNothing) {
  const ModelDescription model = test::mlp_model(4, 5, 3);
  KernelSelector kernels = test::fixed_kernels();
  Network network(model, {.batch = 2, .plan = {}}, kernels);
  network.allocate();
  const WeightMap good = test::random_weights(model, 1);
  network.load(good);
  const auto expect_refused = [&](const WeightMap& weights, const std::string& why) {
    test::expect_error(ErrorCode::kBadData, why, [&] { network.load(weights); });
    WeightMap kept;
    network.save(kept);
    EXPECT_EQ(kept.at("fully_connected0.bias").data, good.at("fully_connected0.bias").data);
  };
  WeightMap weights = test::random_weights(model, 2);
  weights.erase("fully_connected1.bias");
  expect_refused(weights, "lack \"fully_connected1.bias\"");
  weights = test::random_weights(model, 2);
  weights.at("fully_connected1.weight").dims = {5, 3};
  expect_refused(weights, "is 5x3; its layer needs 3x5");
  weights = test::random_weights(model, 2);
  weights.at("fully_connected1.weight").data.pop_back();
  expect_refused(weights, "has 14 values");
  weights = test::random_weights(model, 2);
  weights["more.than.needed"] = {{1}, {0}};
  network.load(weights);
}

TEST(NetworkTest, WhatIsLoadedIsSaved) {
  for (const auto& model : {test::residual_model(), smooth_model()}) {
    Training t(model);
    const WeightMap weights = test::random_weights(model, 9);
    t.network().load(weights);
    WeightMap saved;
    t.network().save(saved);
    EXPECT_EQ(saved.size(), weights.size());
    for (const auto& [name, tensor] : weights) {
      EXPECT_EQ(saved.at(name).dims, tensor.dims) << name;
      EXPECT_EQ(saved.at(name).data, tensor.data) << name;
    }
  }
}

// Two micro-batches without batch norm: the sum of their gradients.
TEST(NetworkTest, GradientsAccumulate) {
  const ModelDescription model = test::mlp_model(4, 5, 3);
  Training one(model), other(model), both(model, 4, 0, false, true);
  const auto a = one.gradients(1), b = other.gradients(2);
  both.fill(1);
  both.network().train_step(7, nullptr);
  GradientRecorder recorder;
  both.fill(2);
  both.network().train_step(7, &recorder, true);
  ASSERT_EQ(recorder.gradients.size(), 4u);
  for (const auto& [name, gradient] : recorder.gradients) {
    for (std::size_t i = 0; i < gradient.size(); ++i)
      EXPECT_NEAR(gradient[i], a.at(name)[i] + b.at(name)[i], 1e-6) << name;
  }
}

TEST(NetworkTest, WeightsAreAppliedOnlyAfterTheLastMicroBatch) {
  Training t(test::mlp_model(4, 5, 3), 4, 0, false, true);
  WeightMap before, after;
  t.network().save(before);
  t.fill(1);
  t.network().train_step(7, nullptr);
  t.network().save(after);
  for (const auto& [name, tensor] : before) EXPECT_EQ(after.at(name).data, tensor.data);
}

// Counts what an updater is told.
class Counter : public WeightUpdater {
 public:
  void gradient_ready(const WeightUpdate&) override { ++ready; }
  void all_gradients_ready() override {
    told.push_back(ready);
    EXPECT_EQ(applied, 0u);
  }
  void apply(const WeightUpdate&) override { ++applied; }
  std::vector<std::size_t> told;
  std::size_t ready = 0, applied = 0;
};

TEST(NetworkTest, TellsOfAllGradientsBeforeTheFirstIsApplied) {
  Training t(test::mlp_model(4, 5, 3), 4, 0, true);
  Counter counter;
  t.fill(1);
  t.network().train_step(1, &counter);
  EXPECT_THAT(counter.told, ElementsAre(4u));
  EXPECT_EQ(counter.applied, 4u);
}

TEST(NetworkTest, PersistentTensorsAreWhatARunRemembers) {
  Training t(ModelBuilder({4}).fc(3).norm().model(), 4, 2);
  std::vector<std::string> names;
  std::size_t statistics = 0, states = 0;
  for (const auto& tensor : t.network().persistent()) {
    names.push_back(tensor.name);
    statistics += tensor.kind == TensorKind::kStatistic ? 1 : 0;
    states += tensor.kind == TensorKind::kOptimizerState ? 1 : 0;
  }
  EXPECT_EQ(names.size(), 2u + 4u + 4u * 2u);
  EXPECT_EQ(statistics, 2u);
  EXPECT_EQ(states, 8u);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(NetworkTest, AStepRunAgainGivesTheSameBits) {
  Training t(test::chain_model());
  const auto first = t.gradients(3);
  EXPECT_EQ(t.gradients(3), first);
}

TEST(NetworkTest, WhatOutlivesAStepOutlivesDiscarding) {
  const ModelDescription model = ModelBuilder({4096}).fc(512).norm().relu().fc(3).model();
  Training kept(model, 4, 2), discarded(model, 4, 2);
  for (const std::uint64_t key : {1, 2, 3}) {
    EXPECT_EQ(discarded.gradients(key), kept.gradients(key));
    discarded.network().discard_transient();
  }
  const auto of_kept = kept.network().persistent();
  const auto of_discarded = discarded.network().persistent();
  ASSERT_EQ(of_kept.size(), of_discarded.size());
  for (std::size_t i = 0; i < of_kept.size(); ++i) {
    const auto a = of_kept[i].data(), b = of_discarded[i].data();
    EXPECT_TRUE(std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end()))
        << of_kept[i].name;
  }
}

TEST(NetworkTest, MovedOutAndInGoesOn) {
  const ModelDescription model = ModelBuilder({4096}).fc(512).norm().relu().fc(3).model();
  Training kept(model, 4, 2), moved(model, 4, 2);
  EXPECT_EQ(moved.gradients(1), kept.gradients(1));  // statistics change
  WeightMap weights;
  Network::OptimizerStates states;
  moved.network().move_out(weights, states);
  EXPECT_FALSE(states.empty());
  WeightMap saved;
  kept.network().save(saved);
  ASSERT_EQ(weights.size(), saved.size());
  for (const auto& [name, tensor] : saved) EXPECT_EQ(weights.at(name).data, tensor.data) << name;
  moved.network().allocate();
  weights["another.weight"];
  moved.network().move_in(weights);
  EXPECT_EQ(weights.size(), 1U);
  EXPECT_EQ(moved.gradients(2), kept.gradients(2));
}

TEST(NetworkTest, WhatDoesNotFitIsNotMovedIn) {
  Training t(test::chain_model());
  WeightMap weights;
  t.network().save(weights);
  const std::size_t all = weights.size();
  weights.begin()->second.data.pop_back();
  EXPECT_THROW(t.network().move_in(weights), Error);
  EXPECT_EQ(weights.size(), all);
}

TEST(NetworkTest, DropoutFollowsTheKey) {
  Training t(ModelBuilder({64}).layer("dropout").fc(3).model());
  const auto loss = [&](std::uint64_t key) {
    t.fill(1);
    t.network().forward(key);
    return t.network().output(0)[0];
  };
  EXPECT_EQ(loss(1), loss(1));
  EXPECT_NE(loss(1), loss(2));
}

}  // namespace
}  // namespace moil
