#include <gmock/gmock.h>

#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/engine/model/realizers/support.h"

namespace moil {
namespace {

using test::equations;
using test::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Properties units(std::int64_t count, const std::string& activation) {
  return {{"units", count}, {"activation", activation}};
}

TEST(ActivationRealizerTest, APropertyBecomesALayerThatAllReadersRead) {
  ModelBuilder b({4});
  b.layer("fully_connected", units(4, "tanh"), {}, "a");
  b.fc(3).layer("add", {}, {"a", "a:0"}, "sum");
  const ModelDescription model = b.model({"sum", "fully_connected0", "a"});
  const ModelDescription result = realize_activation(model);
  EXPECT_THAT(equations(result), ElementsAre("a = fully_connected(input)", "a/activation = tanh(a)",
                                             "fully_connected0 = fully_connected(a/activation)",
                                             "sum = add(a/activation, a/activation)"));
  EXPECT_THAT(result.outputs, ElementsAre("sum", "fully_connected0", "a/activation"));
  EXPECT_FALSE(result.layers[0].properties.contains("activation"));
  EXPECT_EQ(model.layers.size(), 3u);  // the argument is left alone
  EXPECT_TRUE(model.layers[0].properties.contains("activation"));
}

TEST(ActivationRealizerTest, NoneIsNoLayer) {
  const ModelDescription result =
      realize_activation(ModelBuilder({4}).layer("fully_connected", units(3, "none")).model());
  EXPECT_EQ(result.layers.size(), 1u);
  EXPECT_FALSE(result.layers[0].properties.contains("activation"));
}

TEST(ActivationRealizerTest, WhatItCannotPutBehindALayerIsNamed) {
  const auto of = [](Properties properties, const std::string& type = "add") {
    ModelBuilder b({4});
    b.layer(type, std::move(properties), {}, "x").layer("relu", {}, {"x:1"});
    return test::error_of([&] { (void)realize_activation(b.model()); });
  };
  EXPECT_THAT(of({{"activation", "conv2d"}}), HasSubstr("\"x\": unknown activation \"conv2d\""));
  EXPECT_THAT(of({{"activation", true}}), HasSubstr("\"activation\" must be a string"));
  EXPECT_THAT(of({{"activation", "relu"}}, "multi_out"), HasSubstr("several outputs"));
}

// Said in properties, a model has the layers, in the same places and of the same names, of one that
// says it in layers.
TEST(ActivationRealizerTest, TheSameAsLayersSpelledOut) {
  ModelBuilder brief({3, 6, 6}), full({3, 6, 6});
  const Properties conv = {{"out_channels", std::int64_t{4}}, {"kernel", std::int64_t{3}}};
  Properties active = conv;
  active["activation"] = "relu";
  brief.layer("conv2d", active).layer("batch_norm", {{"activation", "silu"}});
  brief.layer("flatten").layer("fully_connected", units(3, "sigmoid"));
  full.layer("conv2d", conv).relu().norm().layer("silu").layer("flatten").fc(3).layer("sigmoid");
  const ModelDescription a = brief.model(), b = full.model();
  EXPECT_EQ(test::types_of(complete_model(a)), test::types_of(b));
  EXPECT_EQ(test::types_of(test::prepared(a, "mse")), test::types_of(test::prepared(b, "mse")));
  EXPECT_EQ(trainable_weights(a, nullptr), trainable_weights(b, nullptr));
  WeightMap weights_a = test::random_weights(b, 3), weights_b = weights_a;
  const ModelDescription inference = prepare_inference(a, weights_a);
  EXPECT_EQ(test::types_of(inference), test::types_of(prepare_inference(b, weights_b)));
  EXPECT_EQ(inference.layers[0].properties.at("activation"), Property("relu"));  // fused
}

TEST(ActivationRealizerTest, APreparedModelMayBePreparedAgain) {
  const ModelDescription model = test::chain_model();
  WeightMap weights = test::random_weights(model, 1);
  const ModelDescription once = prepare_inference(model, weights);
  EXPECT_EQ(equations(prepare_inference(once, weights)), equations(once));
}

}  // namespace
}  // namespace moil
