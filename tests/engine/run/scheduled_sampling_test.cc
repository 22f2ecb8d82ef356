// Decoders that are sometimes fed what they said themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/engine/run/training.h"

namespace moil {
namespace {

constexpr int kSteps = 6;

// One dense cell a step, all of the same weights: from the frame before to this one.
ModelDescription decoder(double rate) {
  test::ModelBuilder b({kSteps, 3});
  b.layer("unstack", {}, {}, "frames");
  std::string before;
  for (int i = 0; i < kSteps; ++i) {
    const std::string n = std::to_string(i);
    b.go_back("frames:" + n);
    if (i > 0) b.layer("scheduled_sampling", {{"rate", rate}}, {b.last(), before}, "fed" + n);
    b.layer("fully_connected", {{"units", std::int64_t{3}}}, {}, "say" + n);
    before = b.layer("tanh", {}, {}, "said" + n).last();
  }
  ModelDescription model = b.fc(3).model();
  for (LayerDescription& layer : model.layers)
    if (layer.name.starts_with("say") && layer.name != "say0")
      layer.shares = {{"weight", "say0.weight"}, {"bias", "say0.bias"}};
  return model;
}

TEST(ScheduledSamplingNetworks, GradientsAreTheLossesSlope) {
  for (const double rate : {0.0, 0.5, 1.0}) test::expect_slopes(decoder(rate), 4, 2e-3, 0.02, 2e-4);
}

// The more own frames, the more steps an error goes back through.
TEST(ScheduledSamplingNetworks, ErrorsGoBackThroughTheOwnFrames) {
  const auto bias = [](double rate) {
    return test::Training(decoder(rate)).gradients(3).at("say0.bias");
  };
  EXPECT_NE(bias(0), bias(1));
  EXPECT_NE(bias(0), bias(0.5));
  EXPECT_NE(bias(1), bias(0.5));
}

TEST(ScheduledSamplingNetworks, ChoicesFollowTheKey) {
  test::Training t(decoder(0.5), 64);
  const auto loss = [&](std::uint64_t key) {
    t.fill(1);
    t.network().forward(key);
    return t.network().output(0)[0];
  };
  EXPECT_EQ(loss(1), loss(1));
  EXPECT_NE(loss(1), loss(2));
}

// The loss of two samples of a batch of four, from the first of them on.
double loss_of_half(std::ptrdiff_t first, const std::vector<float>& x,
                    const std::vector<float>& y) {
  test::Training half(decoder(0.5), 2);
  Network& network = half.network();
  std::copy_n(x.begin() + first * kSteps * 3, 2 * kSteps * 3, network.input(0));
  std::copy_n(y.begin() + first * 3, 2 * 3, network.input(1));
  test::GradientRecorder recorder;
  network.train_step(7, &recorder, false, first);
  return network.output(0)[0];
}

TEST(ScheduledSamplingNetworks, MicroBatchesChooseAsTheWholeBatchDoes) {
  test::Training whole(decoder(0.5), 4);
  const double expected = whole.loss(3);
  const auto x = test::random_values(4 * kSteps * 3, 3), y = test::one_hot_rows(4, 3, 4);
  EXPECT_NEAR((loss_of_half(0, x, y) + loss_of_half(2, x, y)) / 2, expected, 1e-6);
}

TEST(ScheduledSamplingNetworks, NeitherSharingMemoryNorSwapChangesABit) {
  const ModelDescription model = decoder(0.5);
  NetworkOptions options = test::training_options(model, 4);
  options.plan.optimizer_states = 1;
  test::expect_same_bits_of_other_plans(test::prepared(model), options,
                                        test::random_weights(model, 2));
}

TEST(ScheduledSamplingNetworks, InferenceTakesTheTeachers) {
  const auto types = [](const ModelDescription& model) {
    std::set<std::string> found;
    for (const LayerDescription& layer : model.layers) found.insert(layer.type);
    return found;
  };
  const ModelDescription sampled = decoder(0.9), forced = decoder(0);
  EXPECT_FALSE(types(realize_inference(sampled)).contains("scheduled_sampling"));
  const WeightMap weights = test::random_weights(sampled, 4);
  const auto input = test::random_values(5 * kSteps * 3, 6);
  EXPECT_EQ(test::infer(sampled, weights, 5, input), test::infer(forced, weights, 5, input));
}

}  // namespace
}  // namespace moil
