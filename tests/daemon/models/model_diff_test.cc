#include "daemon/models/model_diff.h"

#include <cmath>

#include "daemon/models/model_folder.h"
#include "engine/model/surgery.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

class ModelDiff : public ::testing::Test {
 protected:
  Json diff() {
    write_model_folder(temp_ / "a", a_);
    write_model_folder(temp_ / "b", b_);
    return model_diff(temp_ / "a", temp_ / "b");
  }
  // The layer that owns the weight.
  static Json layer_of(const Json& diff, const std::string& weight) {
    for (const Json& layer : diff["layers"])
      if (weight.starts_with(layer["layer"].get<std::string>() + ".")) return layer;
    return nullptr;
  }

  TempFolder temp_;
  ModelBundle a_ = small_bundle(), b_ = small_bundle();
};

TEST_F(ModelDiff, EqualModelsAreIdenticalLayerByLayer) {
  const Json found = diff();
  ASSERT_FALSE(found["layers"].empty());
  for (const Json& layer : found["layers"]) {
    EXPECT_EQ(layer["identical"], true) << layer;
    EXPECT_EQ(layer["change"], 0.0) << layer;
  }
  for (const Json& label : found["labels"]) EXPECT_EQ(label["in"], "both");
  EXPECT_EQ(found["labels"].size(), a_.labels.size());
}

TEST_F(ModelDiff, AChangeIsToldInPartsOfTheNorm) {
  const auto& [name, tensor] = *b_.weights.begin();
  double norm = 0;
  const std::string layer = name.substr(0, name.rfind('.'));
  for (const auto& [weight, values] : a_.weights) {
    if (!weight.starts_with(layer + ".")) continue;
    for (const float x : values.data) norm += double{x} * x;
  }
  b_.weights.at(name).data[0] += 2;
  const Json changed = layer_of(diff(), name);
  EXPECT_EQ(changed["identical"], false);
  EXPECT_EQ(changed["resized"], false);
  EXPECT_NEAR(changed["change"].get<double>(), 2 / std::sqrt(norm), 1e-4);
}

// A label more: a row more in the classifier.
TEST_F(ModelDiff, OfWhatGrewTheCommonPartIsCompared) {
  grow_classifier(b_.description, b_.weights, 4, 1);
  b_.labels.emplace_back("new one");
  const Json found = diff();
  const Json grown = layer_of(found, "classifier.");
  EXPECT_EQ(grown["identical"], false);
  EXPECT_EQ(grown["resized"], true);
  EXPECT_EQ(grown["change"], 0.0);
  EXPECT_EQ(found["labels"].back(), Json({{"label", "new one"}, {"in", "b"}}));
}

}  // namespace
}  // namespace moil::night
