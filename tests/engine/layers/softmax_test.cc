#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

TEST(Softmax, SumsToOneAndNeitherOverflowsNorDividesByZero) {
  LayerHarness harness({"softmax", {}, {Dims{2, 4}}});
  harness.set_input(0, {1000, 1000, 800, -1000, -1e30F, -1e30F, -1e30F, -1e30F});
  harness.forward();
  EXPECT_EQ(harness.output(), (std::vector<float>{0.5, 0.5, 0, 0, 0.25, 0.25, 0.25, 0.25}));
}

TEST(Softmax, ANanSpoilsItsRowAlone) {
  LayerHarness harness({"softmax", {}, {Dims{2, 3}}});
  harness.set_input(0, {1, std::nanf(""), 3, 1, 2, 3});
  harness.forward();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(harness.output()[i]));
  for (std::size_t i = 3; i < 6; ++i) EXPECT_TRUE(std::isfinite(harness.output()[i]));
}

TEST(Softmax, GradientsAgreeWithDifferences) {
  expect_gradients({"softmax", {}, {Dims{3, 10}}});
  expect_gradients({"softmax", {}, {Dims{2, 37}}});
  expect_gradients({"softmax", {}, {Dims{2, 5, 3, 2}}});
  expect_gradients({"softmax", {}, {Dims{2, 3, 19}}});
}

TEST(Softmax, DependsOnNeitherThreadsNorBatch) {
  expect_thread_independent({"softmax", {}, {Dims{64, 1001}}});
  expect_batch_independent({"softmax", {}, {Dims{5, 37}}});
}

}  // namespace
}  // namespace moil::test
