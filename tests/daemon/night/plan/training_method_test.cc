#include "daemon/night/plan/training_method.h"

#include <gmock/gmock.h>

#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

using daemon::TrainingMethod;
using ::testing::ElementsAre;

ModelDescription small_model() {
  return parse_model(
      R"({"format": "moil-model", "version": 1, "name": "m",
          "inputs": [{"name": "x", "dims": [3, 8, 8]}],
          "layers": [
            {"name": "conv", "type": "conv2d", "inputs": ["x"],
             "properties": {"bias": true, "kernel": 3, "out_channels": 4}},
            {"name": "norm", "type": "batch_norm", "inputs": ["conv"]},
            {"name": "flat", "type": "flatten", "inputs": ["norm"]},
            {"name": "fc", "type": "fully_connected", "inputs": ["flat"],
             "properties": {"bias": true, "units": 3}}],
          "outputs": ["fc"]})");
}

TEST(TrainingMethod, SelectsWhatItIsNamedAfter) {
  const std::set<std::string> all = {"conv", "norm", "fc"};
  EXPECT_TRUE(selection_of(TrainingMethod::kFull, small_model(), all).empty());
  EXPECT_THAT(selection_of(TrainingMethod::kLastLayer, small_model(), all),
              ElementsAre("fc.bias", "fc.weight"));
  EXPECT_THAT(selection_of(TrainingMethod::kBnBias, small_model(), all),
              ElementsAre("conv.bias", "fc.bias", "fc.weight", "norm.beta", "norm.gamma"));
}

TEST(TrainingMethod, FrozenLayersAreLeftOut) {
  EXPECT_THAT(selection_of(TrainingMethod::kBnBias, small_model(), {"conv", "fc"}),
              ElementsAre("conv.bias", "fc.bias", "fc.weight"));
}

}  // namespace
}  // namespace moil::night
