#include "engine/io/fingerprint.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

ModelDescription printed_model() {
  return {
      "m", {{"x", {3}}}, {{"f", "fully_connected", {"x"}, {{"units", std::int64_t{2}}}}}, {"f"}};
}

WeightMap weights() {
  return {{"a.weight", {{2}, {1, 2}}}, {"a.bias", {{1}, {3}}}, {"a.b.weight", {{1}, {4}}}};
}

// Recorded: a changed fingerprint would make every cached feature map worthless.
TEST(FingerprintTest, StaysTheSameBetweenVersions) {
  EXPECT_EQ(model_fingerprint(printed_model()), "a5b65bf8fec98608745ac2acd9295c69");
  EXPECT_EQ(weights_fingerprint(weights()), "ab611ebd5d76705f8c36d0037274cf4b");
  EXPECT_EQ(weights_fingerprint({}), "99aa06d3014798d86001c324468d497f");  // XXH3-128 of nothing
}

TEST(FingerprintTest, TellsModelsApart) {
  std::set<std::string> seen = {model_fingerprint(printed_model())};
  ModelDescription changed = printed_model();
  changed.inputs[0].dims = {4};
  EXPECT_TRUE(seen.insert(model_fingerprint(changed)).second);
  changed = printed_model();
  changed.layers[0].properties["units"] = std::int64_t{3};
  EXPECT_TRUE(seen.insert(model_fingerprint(changed)).second);
  changed = printed_model();
  changed.outputs = {"x"};
  EXPECT_TRUE(seen.insert(model_fingerprint(changed)).second);
}

TEST(FingerprintTest, TheModelsNameDoesNotCount) {
  ModelDescription renamed = printed_model();
  renamed.name = "another";
  EXPECT_EQ(model_fingerprint(renamed), model_fingerprint(printed_model()));
}

TEST(FingerprintTest, TellsWeightsApart) {
  std::set<std::string> seen = {weights_fingerprint(weights())};
  WeightMap changed = weights();
  changed["a.bias"].data[0] = 3.0000002f;
  EXPECT_TRUE(seen.insert(weights_fingerprint(changed)).second) << "one bit";
  changed = weights();
  changed["a.weight"].dims = {1, 2};
  EXPECT_TRUE(seen.insert(weights_fingerprint(changed)).second) << "dims";
  changed = weights();
  changed["b.bias"] = changed["a.bias"];
  changed.erase("a.bias");
  EXPECT_TRUE(seen.insert(weights_fingerprint(changed)).second) << "name";
}

TEST(FingerprintTest, OfSomeLayers) {
  const std::string only_a[] = {"a"};
  EXPECT_EQ(weights_fingerprint(weights(), only_a),
            weights_fingerprint({{"a.weight", {{2}, {1, 2}}}, {"a.bias", {{1}, {3}}}}));
  const std::string both[] = {"a.b", "a", "unknown"};
  EXPECT_EQ(weights_fingerprint(weights(), both), weights_fingerprint(weights()));
  EXPECT_EQ(weights_fingerprint(weights(), {}), weights_fingerprint({}));
  test::expect_error(ErrorCode::kInvalidArgument, "\"w\"", [] {
    (void)weights_fingerprint({{"w", {{1}, {1}}}}, {});
  });
}

}  // namespace
}  // namespace moil
