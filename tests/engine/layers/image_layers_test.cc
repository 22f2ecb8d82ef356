// local_response_norm and resize.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

LayerSpec response_norm(std::int64_t size, const Dims& dims, Properties more = {}) {
  more["size"] = size;
  return {"local_response_norm", more, {dims}};
}

TEST(LocalResponseNorm, DividesByItsNeighbours) {
  LayerHarness harness(
      response_norm(3, Dims{1, 3, 1, 1}, {{"alpha", 3.0}, {"beta", 0.5}, {"bias", 2.0}}));
  harness.set_input(0, {1, 2, 3});
  harness.forward();
  const std::vector<float> sums = {2 + 5, 2 + 14, 2 + 13};
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_FLOAT_EQ(harness.output()[i], static_cast<float>(i + 1) / std::sqrt(sums[i])) << i;
}

TEST(LocalResponseNorm, Gradients) {
  for (const std::int64_t size : {1, 3, 5, 9})
    for (const double beta : {0.75, 0.5, 1.2})
      expect_gradients(response_norm(size, Dims{2, 7, 3, 2}, {{"alpha", 1.5}, {"beta", beta}}));
  expect_thread_independent(response_norm(5, Dims{2, 96, 20, 20}, {{"alpha", 0.5}}));
  expect_batch_independent(response_norm(5, Dims{4, 6, 3, 3}, {{"alpha", 0.5}}));
}

TEST(LocalResponseNorm, RefusesWhatCannotBe) {
  const Dims image{1, 4, 2, 2};
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{4}, std::int64_t{257}})
    expect_refused(response_norm(size, image), "\"size\"");
  expect_refused(response_norm(3, image, {{"alpha", -1.0}}), "\"alpha\"");
  expect_refused(response_norm(3, image, {{"beta", -1.0}}), "\"beta\"");
  expect_refused(response_norm(3, image, {{"bias", 0.0}}), "\"bias\"");
  expect_refused(response_norm(3, Dims{2, 4}), "takes images");
}

LayerSpec resize(std::int64_t height, std::int64_t width, const Dims& dims, Properties more = {}) {
  more["size"] = std::vector<std::int64_t>{height, width};
  return {"resize", more, {dims}};
}

std::vector<float> resized(const LayerSpec& spec, const std::vector<float>& input) {
  LayerHarness harness(spec);
  harness.set_input(0, input);
  harness.forward();
  return harness.output();
}

TEST(Resize, TakesTheNearestPixel) {
  const Dims line{1, 1, 1, 3};
  EXPECT_EQ(resized(resize(1, 6, line), {1, 2, 3}), (std::vector<float>{1, 1, 2, 2, 3, 3}));
  const auto half = [&](const char* rounding, std::int64_t width) {
    return resized(
        resize(1, width, Dims{1, 1, 1, 4},
               {{"coordinates", std::string("half_pixel")}, {"rounding", std::string(rounding)}}),
        {1, 2, 3, 4});
  };  // at 0.5 and 2.5
  EXPECT_EQ(half("round_prefer_floor", 2), (std::vector<float>{1, 3}));
  EXPECT_EQ(half("round_prefer_ceil", 2), (std::vector<float>{2, 4}));
  EXPECT_EQ(half("ceil", 2), (std::vector<float>{2, 4}));
  EXPECT_EQ(half("floor", 2), (std::vector<float>{1, 3}));
}

TEST(Resize, ReadsBetweenPixels) {
  const Properties corners = {{"mode", std::string("linear")},
                              {"coordinates", std::string("align_corners")}};
  EXPECT_EQ(resized(resize(1, 5, Dims{1, 1, 1, 3}, corners), {1, 2, 5}),
            (std::vector<float>{1, 1.5F, 2, 3.5F, 5}));
}

TEST(Resize, Gradients) {
  for (const char* mode : {"nearest", "linear"}) {
    for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners"}) {
      const Properties more = {{"mode", std::string(mode)},
                               {"coordinates", std::string(coordinates)}};
      expect_gradients(resize(6, 8, Dims{2, 3, 3, 4}, more));
      expect_gradients(resize(2, 5, Dims{2, 3, 5, 4}, more));
      expect_thread_independent(resize(40, 40, Dims{3, 33, 20, 20}, more));
      expect_batch_independent(resize(7, 3, Dims{4, 5, 3, 3}, more));
    }
  }
}

TEST(Resize, RefusesWhatCannotBe) {
  const Dims image{1, 2, 3, 3};
  expect_refused(resize(0, 3, image), "\"size\"");
  expect_refused(resize(3, 1 << 20, image), "\"size\"");
  expect_refused(resize(3, 3, image, {{"mode", std::string("cubic")}}), "\"mode\"");
  expect_refused(resize(3, 3, image, {{"coordinates", std::string("x")}}), "\"coordinates\"");
  expect_refused(resize(3, 3, image, {{"rounding", std::string("x")}}), "\"rounding\"");
  expect_refused(resize(3, 3, Dims{2, 4}), "takes images");
}

}  // namespace
}  // namespace moil::test
