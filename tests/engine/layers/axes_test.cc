// Layers that move elements: reshape, permute, slice, pad.
#include <gtest/gtest.h>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

using Int = std::int64_t;
using Ints = std::vector<Int>;

std::vector<float> output_of(const LayerSpec& spec, const std::vector<float>& input) {
  LayerHarness harness(spec);
  harness.set_input(0, input);
  harness.forward();
  return harness.output();
}

const std::string kPlain = "plain", kImage = "channels_last";

TEST(Reshape, KeepsTheLogicalOrder) {
  const std::vector<float> image = {1, 10, 2, 20, 3, 30, 4, 40};  // [H, W, C]
  const std::vector<float> rows = {1, 2, 3, 4, 10, 20, 30, 40};
  EXPECT_EQ(output_of({"reshape", {{"dims", Ints{2, 4}}}, {Dims{1, 2, 2, 2}}}, image), rows);
  EXPECT_EQ(output_of({"reshape", {{"dims", Ints{2, 2, 2}}}, {Dims{1, 2, 4}}}, rows), image);
  EXPECT_EQ(
      output_of({"reshape", {{"dims", Ints{2, 2, 2}}, {"layout", kPlain}}, {Dims{1, 8}}}, rows),
      rows);
  EXPECT_EQ(
      output_of({"reshape", {{"dims", Ints{2, 2, 2}}, {"layout", kPlain}}, {Dims{1, 2, 2, 2}}},
                image),
      rows);
}

TEST(Reshape, GradientsAndSameData) {
  for (const LayerSpec& spec :
       {LayerSpec{"reshape", {{"dims", Ints{4, 6}}}, {Dims{2, 24}}},
        LayerSpec{"reshape", {{"dims", Ints{2, 3, 2, 2}}}, {Dims{2, 6, 4}}},
        LayerSpec{"reshape", {{"dims", Ints{2, 3, 4}}, {"layout", kPlain}}, {Dims{2, 6, 4}}},
        LayerSpec{"reshape", {{"dims", Ints{2, 3, 4}}}, {Dims{2, 2, 3, 4}}},
        LayerSpec{"reshape", {{"dims", Ints{6, 1, 4}}}, {Dims{2, 24, 1, 1}}}}) {
    expect_gradients(spec);
    const bool moves = std::get<Ints>(spec.properties.at("dims")) == Ints{6, 1, 4};
    EXPECT_EQ(LayerHarness(spec).plan().in_place, moves ? InPlace::kNo : InPlace::kSameData);
  }
  expect_gradients({"reshape", {{"dims", Ints{4, 6, 5}}}, {Dims{2, 3, 8, 5}}});  // both images
  expect_gradients({"reshape", {{"dims", Ints{40, 3}}}, {Dims{2, 3, 8, 5}}});
  expect_batch_independent({"reshape", {{"dims", Ints{40, 3}}}, {Dims{3, 3, 8, 5}}});
}

TEST(Permute, MovesAxes) {
  EXPECT_EQ(output_of({"permute", {{"order", Ints{0, 2, 1}}}, {Dims{1, 2, 3}}}, {1, 2, 3, 4, 5, 6}),
            (std::vector<float>{1, 4, 2, 5, 3, 6}));
  for (const Ints& order :
       {Ints{0, 2, 1, 3}, Ints{0, 3, 2, 1}, Ints{0, 2, 3, 1}, Ints{0, 1, 3, 2}, Ints{0, 3, 1, 2}}) {
    expect_gradients({"permute", {{"order", order}}, {Dims{2, 3, 5, 4}}});
    expect_gradients({"permute", {{"order", order}}, {Dims{2, 3, 5, 4}}, true});
    expect_gradients({"permute", {{"order", order}, {"layout", kImage}}, {Dims{2, 3, 5, 4}}, true});
  }
  expect_gradients({"permute", {{"order", Ints{0, 2, 3, 1, 4}}}, {Dims{2, 3, 5, 2, 4}}});
  expect_gradients({"permute", {{"order", Ints{0, 2, 1}}}, {Dims{2, 40, 33}}});
  expect_thread_independent({"permute", {{"order", Ints{0, 2, 1}}}, {Dims{20, 65, 64}}});
}

TEST(Permute, AnImageIsItsRowsOfChannels) {
  const LayerSpec leaves{"permute", {{"order", Ints{0, 2, 3, 1}}}, {Dims{2, 3, 5, 4}}};
  EXPECT_EQ(LayerHarness(leaves).plan().in_place, InPlace::kSameData);
  const LayerSpec comes{
      "permute", {{"order", Ints{0, 3, 1, 2}}, {"layout", kImage}}, {Dims{2, 5, 4, 3}}, true};
  EXPECT_EQ(LayerHarness(comes).plan().in_place, InPlace::kSameData);
}

TEST(Slice, TakesPartOfAnAxis) {
  EXPECT_EQ(
      output_of(
          {"slice", {{"start", Int{1}}, {"length", Int{2}}, {"step", Int{2}}}, {Dims{1, 4, 2}}},
          {0, 1, 2, 3, 4, 5, 6, 7}),
      (std::vector<float>{2, 3, 6, 7}));
  EXPECT_EQ(
      output_of(
          {"slice", {{"start", Int{3}}, {"length", Int{2}}, {"step", Int{-2}}}, {Dims{1, 4, 2}}},
          {0, 1, 2, 3, 4, 5, 6, 7}),
      (std::vector<float>{6, 7, 2, 3}));
  for (const Int axis : {1, 2, 3}) {
    for (const Int step : {1, 2, -1, -2}) {
      const Properties part = {
          {"axis", axis}, {"start", Int{step < 0 ? 3 : 1}}, {"length", Int{2}}, {"step", step}};
      expect_gradients({"slice", part, {Dims{2, 5, 4, 6}}});
      expect_gradients({"slice", part, {Dims{2, 5, 4, 6}}, true});
    }
  }
  expect_thread_independent({"slice", {{"length", Int{30}}}, {Dims{4, 40, 3000}}});
}

TEST(Pad, SurroundsWithAValue) {
  EXPECT_EQ(
      output_of({"pad", {{"begin", Ints{1}}, {"end", Ints{2}}, {"value", -1.0}}, {Dims{2, 1}}},
                {5, 6}),
      (std::vector<float>{-1, 5, -1, -1, -1, 6, -1, -1}));
  const Properties around = {{"begin", Ints{0, 1, 2}}, {"end", Ints{3, 0, 1}}, {"value", 0.5}};
  expect_gradients({"pad", around, {Dims{2, 3, 4, 5}}});
  expect_gradients({"pad", around, {Dims{2, 3, 4, 5}}, true});
  expect_batch_independent({"pad", around, {Dims{3, 3, 4, 5}}});
}

TEST(Axes, Errors) {
  EXPECT_EQ(error_of({"reshape", {{"dims", Ints{5}}}, {Dims{2, 4}}}),
            "cannot make 2x5 of 2x4: another number of elements");
  expect_refused({"reshape", {{"dims", Ints{0}}}, {Dims{2, 4}}}, "at least 1");
  expect_refused({"reshape", {}, {Dims{2, 4}}}, "\"dims\" is missing");
  expect_refused({"reshape", {{"dims", Ints{4}}, {"layout", kPlain + "er"}}, {Dims{2, 4}}},
                 "\"layout\"");
  for (const Ints& order : {Ints{1, 0}, Ints{0, 2}, Ints{0, 1, 1}})
    expect_refused({"permute", {{"order", order}}, {Dims{2, 4}}}, "\"order\"");
  EXPECT_EQ(error_of({"permute", {{"order", Ints{0, 2, 1}}}, {Dims{2, 4}}}),
            "has an order of 3 axes for 2x4");
  EXPECT_EQ(error_of({"slice", {{"start", Int{2}}, {"length", Int{3}}}, {Dims{2, 4}}}),
            "takes 3 of axis 1 from 2 on in steps of 1; it has 4");
  EXPECT_EQ(
      error_of({"slice", {{"start", Int{2}}, {"length", Int{3}}, {"step", Int{-2}}}, {Dims{2, 4}}}),
      "takes 3 of axis 1 from 2 on in steps of -2; it has 4");
  expect_refused({"slice", {{"length", Int{1}}, {"step", Int{0}}}, {Dims{2, 4}}}, "\"step\"");
  EXPECT_EQ(error_of({"slice", {{"axis", Int{2}}, {"length", Int{3}}}, {Dims{2, 4}}}),
            "has an axis 2; axes of 2x4 are 1 to 1");
  EXPECT_EQ(error_of({"pad", {{"begin", Ints{1, 1}}, {"end", Ints{1, 1}}}, {Dims{2, 4}}}),
            "pads 2 axes behind the batch, has 2x4");
  expect_refused({"pad", {{"begin", Ints{1}}, {"end", Ints{1, 2}}}, {Dims{2, 4}}}, "of one length");
  expect_refused({"pad", {{"begin", Ints{Int{1} << 62}}, {"end", Ints{1}}}, {Dims{2, 4}}},
                 "below 2^32");
}

}  // namespace
}  // namespace moil::test
