// Recurrent layers in networks, in one piece and unrolled into cells that share weights.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/model/weights.h"
#include "tests/engine/model/models.h"
#include "tests/engine/run/training.h"

namespace moil {
namespace {

// Two layers, the second from what the first ended with; a classifier.
ModelDescription sequence_model(const std::string& type, bool unroll, bool reverse,
                                std::int64_t length = 5) {
  const auto with = [&](Properties more) {
    more["units"] = std::int64_t{6};
    more["unroll"] = unroll;
    return more;
  };
  ModelDescription model =
      test::ModelBuilder({length, 3})
          .layer(type, with({{"reverse", reverse}, {"state", true}}), {}, "first")
          .layer(type, with({{"sequence", false}}), {}, "second")
          .fc(3)
          .model();
  model.layers[1].inputs = {"first", "first:1"};
  if (type == "lstm") model.layers[1].inputs.push_back("first:2");
  return model;
}

void expect_near(const std::map<std::string, std::vector<float>>& found,
                 const std::map<std::string, std::vector<float>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, values] : expected) {
    double most = 0;
    for (const float v : values) most = std::max(most, std::abs(double{v}));
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(found.at(name)[i], values[i], 1e-5 * most) << name << " " << i;
  }
}

TEST(RecurrentNetworks, OnePieceAndCellsAreTheSame) {
  for (const char* type : {"rnn", "lstm", "gru"}) {
    for (const bool reverse : {false, true}) {
      for (const std::int64_t length : {1, 5}) {
        SCOPED_TRACE(std::string(type) + (reverse ? " reverse " : " ") + std::to_string(length));
        test::Training fused(sequence_model(type, false, reverse, length));
        test::Training cells(sequence_model(type, true, reverse, length));
        EXPECT_NEAR(fused.loss(3), cells.loss(3), 1e-5 * std::abs(fused.loss(3)));
        expect_near(cells.gradients(3), fused.gradients(3));
      }
    }
  }
}

TEST(RecurrentNetworks, GradientsAreTheLossesSlope) {
  for (const char* type : {"rnn", "lstm", "gru"}) {
    SCOPED_TRACE(type);
    test::expect_slopes(sequence_model(type, false, false), 10, 2e-3, 0.02, 2e-4);
    test::expect_slopes(sequence_model(type, true, true), 10, 2e-3, 0.02, 2e-4);
  }
}

TEST(RecurrentNetworks, NeitherSharingMemoryNorSwapNorMakingAgainChangesABit) {
  for (const char* type : {"rnn", "lstm", "gru"}) {
    for (const bool unroll : {false, true}) {
      SCOPED_TRACE(std::string(type) + (unroll ? " as cells" : ""));
      const ModelDescription model = sequence_model(type, unroll, false),
                             prepared = test::prepared(model);
      NetworkOptions options = test::training_options(model, 4);
      options.plan.optimizer_states = 1;
      options.plan.clip_by_global_norm = true;
      const WeightMap weights = test::random_weights(model, 2);
      test::expect_same_bits_of_other_plans(prepared, options, weights);
      const auto expected = test::train(prepared, options, weights, 3);
      for (const LayerDescription& layer : prepared.layers) options.plan.again.insert(layer.name);
      EXPECT_TRUE(test::train(prepared, options, weights, 3) == expected) << "again";
    }
  }
}

// A sequence cut in two, with the state handed on, ends as the whole one does.
TEST(RecurrentNetworks, AStateCarriesASequenceOn) {
  for (const std::string type : {"rnn", "lstm", "gru"}) {
    SCOPED_TRACE(type);
    const Properties p = {{"units", std::int64_t{6}}, {"state", true}};
    const ModelDescription whole = test::ModelBuilder({4, 3}).layer(type, p, {}, "m").model();
    ModelDescription part = test::ModelBuilder({2, 3}).layer(type, p, {}, "m").model();
    const std::size_t states = type == "lstm" ? 2 : 1;
    for (std::size_t s = 0; s < states; ++s) {
      const std::string name = "state" + std::to_string(s);
      part.inputs.push_back({name, {6}});
      part.layers[0].inputs.push_back(name);
      part.outputs.push_back("m:" + std::to_string(s + 1));
    }
    KernelSelector kernels = test::fixed_kernels();
    Network one(whole, {.batch = 1, .plan = {}}, kernels),
        two(part, {.batch = 1, .plan = {}}, kernels);
    const WeightMap weights = test::random_weights(whole, 1);
    for (Network* network : {&one, &two}) {
      network->allocate();
      network->load(weights);
    }
    const std::vector<float> x = test::random_values(12, 5);
    std::copy(x.begin(), x.end(), one.input(0));
    one.forward();
    std::vector<float> found;
    std::vector<std::vector<float>> state(states, std::vector<float>(6, 0.0F));
    for (int half = 0; half < 2; ++half) {
      std::copy_n(x.begin() + 6 * half, 6, two.input(0));
      for (std::size_t s = 0; s < states; ++s)
        std::copy(state[s].begin(), state[s].end(), two.input(1 + s));
      two.forward();
      found.insert(found.end(), two.output(0), two.output(0) + 12);
      for (std::size_t s = 0; s < states; ++s)
        state[s].assign(two.output(1 + s), two.output(1 + s) + 6);
    }
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], one.output(0)[i], 1e-6) << i;
  }
}

}  // namespace
}  // namespace moil
