#include "engine/io/onnx/folds/constant_folding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

Tensor ints(Ints values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return Tensor::of_ints({size}, std::move(values));
}

Node node(const std::string& op, std::map<std::string, Attribute> attributes = {}) {
  return {"n", op, "", {"a", "b"}, {"y"}, std::move(attributes)};
}

std::optional<Tensor> fold_of(const Node& n, const std::vector<Tensor>& inputs) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : inputs) pointers.push_back(&t);
  return fold(n, pointers);
}

Tensor folded(const Node& n, const std::vector<Tensor>& inputs) {
  const auto result = fold_of(n, inputs);
  EXPECT_TRUE(result.has_value()) << n.op;
  return result.value_or(Tensor{});
}

const Tensor kMatrix = Tensor::of({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(ConstantFolding, TransposesAndReshapes) {
  const Tensor turned = folded(node("Transpose"), {kMatrix});
  EXPECT_EQ(turned.dims, (Ints{3, 2}));
  EXPECT_EQ(turned.floats, (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(folded(node("Reshape"), {kMatrix, ints({0, -1, 1})}).dims, (Ints{2, 3, 1}));
  EXPECT_EQ(folded(node("Unsqueeze"), {kMatrix, ints({0, -1})}).dims, (Ints{1, 2, 3, 1}));
  EXPECT_EQ(folded(node("Squeeze"), {Tensor::of({1, 2, 1}, {7, 8})}).dims, (Ints{2}));
}

TEST(ConstantFolding, GathersSlicesAndJoins) {
  EXPECT_EQ(folded(node("Gather", {{"axis", std::int64_t{1}}}), {kMatrix, ints({-1, 0})}).floats,
            (std::vector<float>{3, 1, 6, 4}));
  const Tensor scalar = folded(node("Gather"), {ints({5, 6, 7}), Tensor::of_ints({}, {1})});
  EXPECT_TRUE(scalar.dims.empty());
  EXPECT_EQ(scalar.ints, Ints{6});
  EXPECT_EQ(
      folded(node("Slice"), {ints({0, 1, 2, 3, 4}), ints({-1}), ints({-9}), ints({0}), ints({-2})})
          .ints,
      (Ints{4, 2, 0}));
  EXPECT_EQ(folded(node("Slice"), {kMatrix, ints({1}), ints({99}), ints({1})}).floats,
            (std::vector<float>{2, 3, 5, 6}));
  EXPECT_EQ(folded(node("Concat", {{"axis", std::int64_t{1}}}), {kMatrix, kMatrix}).floats,
            (std::vector<float>{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
}

TEST(ConstantFolding, Computes) {
  EXPECT_EQ(folded(node("Add"), {kMatrix, Tensor::of({3}, {10, 20, 30})}).floats,
            (std::vector<float>{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ(folded(node("Div"), {ints({7}), ints({2})}).ints, Ints{3});
  EXPECT_EQ(folded(node("Max"), {ints({7, -1, 3}), ints({2}), ints({1, 1, 9})}).ints,
            (Ints{7, 2, 9}));
  EXPECT_EQ(folded(node("Min"), {kMatrix, Tensor::of({}, {3})}).floats,
            (std::vector<float>{1, 2, 3, 3, 3, 3}));
  const Tensor product =
      folded(node("ReduceProd", {{"keepdims", std::int64_t{0}}}), {ints({2, 3, 7})});
  EXPECT_TRUE(product.dims.empty());
  EXPECT_EQ(product.ints, Ints{42});
  EXPECT_EQ(folded(node("ReduceProd"), {ints({})}).ints, Ints{1});
  EXPECT_EQ(folded(node("Floor"), {Tensor::of({2}, {1.5F, -1.5F})}).floats,
            (std::vector<float>{1, -2}));
  EXPECT_EQ(folded(node("Cast", {{"to", std::int64_t{7}}}), {Tensor::of({1}, {2.9F})}).ints,
            Ints{2});
  EXPECT_EQ(folded(node("ConstantOfShape", {{"value", ints({4})}}), {ints({2, 1})}).ints,
            (Ints{4, 4}));
}

// By the numbers of types in ONNX.
TEST(ConstantFolding, CastsAsTheTypeHasIt) {
  const auto cast = [](std::int64_t to, const Tensor& from) {
    return folded(node("Cast", {{"to", to}}), {from});
  };
  const Tensor fractions = Tensor::of({5}, {0.5F, -2.7F, 0, 300.9F, NAN});
  EXPECT_EQ(cast(9, fractions).ints, (Ints{1, 1, 0, 1, 1}));
  EXPECT_EQ(cast(7, fractions).ints, (Ints{0, -2, 0, 300, 0}));
  EXPECT_EQ(cast(3, fractions).ints, (Ints{0, -2, 0, 44, 0}));
  const Tensor wide = ints({0, 7, -1, 200, 70000, std::int64_t{1} << 33});
  EXPECT_EQ(cast(9, wide).ints, (Ints{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(cast(2, wide).ints, (Ints{0, 7, 255, 200, 112, 0}));
  EXPECT_EQ(cast(3, wide).ints, (Ints{0, 7, -1, -56, 112, 0}));
  EXPECT_EQ(cast(4, wide).ints, (Ints{0, 7, 65535, 200, 4464, 0}));
  EXPECT_EQ(cast(5, wide).ints, (Ints{0, 7, -1, 200, 4464, 0}));
  EXPECT_EQ(cast(6, wide).ints, (Ints{0, 7, -1, 200, 70000, 0}));
  EXPECT_EQ(cast(12, wide).ints, (Ints{0, 7, 4294967295, 200, 70000, 0}));
  EXPECT_EQ(cast(7, wide).ints, wide.ints);
  EXPECT_EQ(cast(10, Tensor::of({2}, {0.1F, 1e6F})).floats,
            (std::vector<float>{0.0999755859375F, INFINITY}));
  EXPECT_EQ(cast(16, Tensor::of({1}, {1.00390625F})).floats, std::vector<float>{1});
  EXPECT_EQ(cast(1, wide).floats, (std::vector<float>{0, 7, -1, 200, 70000, 8589934592.0F}));
  EXPECT_EQ(folded(node("Neg"), {ints({INT64_MAX, 3})}).ints, (Ints{-INT64_MAX, -3}));
}

// How PyTorch writes the masks of shifted windows.
TEST(ConstantFolding, MasksAreComputed) {
  EXPECT_EQ(folded(node("Range"),
                   {Tensor::of_ints({}, {5}), Tensor::of_ints({}, {-2}), Tensor::of_ints({}, {-3})})
                .ints,
            (Ints{5, 2, -1}));
  EXPECT_EQ(
      folded(node("Range"), {Tensor::of({}, {0}), Tensor::of({}, {1}), Tensor::of({}, {0.5F})})
          .floats,
      (std::vector<float>{0, 0.5F}));
  EXPECT_TRUE(folded(node("Range"), {ints({3}), ints({3}), ints({1})}).ints.empty());
  EXPECT_EQ(folded(node("Mod"), {ints({7, -7, 7, -7}), ints({3, 3, -3, -3})}).ints,
            (Ints{1, 2, -2, -1}));
  EXPECT_EQ(folded(node("Mod", {{"fmod", std::int64_t{1}}}), {ints({-7}), ints({3})}).ints,
            Ints{-1});
  EXPECT_EQ(folded(node("Not"), {ints({0, 1})}).ints, (Ints{1, 0}));
  EXPECT_EQ(folded(node("Pow"), {Tensor::of({1}, {4}), Tensor::of({}, {-0.5F})}).floats,
            std::vector<float>{0.5F});
  EXPECT_EQ(folded(node("Pow"), {ints({3}), Tensor::of({}, {2})}).ints, Ints{9});
  const Tensor places = Tensor::of_ints({2, 2}, {0, 1, -1, 0});
  EXPECT_EQ(folded(node("ScatterND"), {kMatrix, places, Tensor::of({2}, {8, 9})}).floats,
            (std::vector<float>{1, 8, 3, 9, 5, 6}));
  const Tensor rows = Tensor::of_ints({1, 1}, {1});
  EXPECT_EQ(folded(node("ScatterND"), {kMatrix, rows, Tensor::of({1, 3}, {7, 8, 9})}).floats,
            (std::vector<float>{1, 2, 3, 7, 8, 9}));
}

TEST(ConstantFolding, WhatItDoesNotKnowIsLeft) { EXPECT_FALSE(fold(node("Conv"), {}).has_value()); }

// Whatever a file says, nothing is read outside a tensor and no memory is taken beyond the limit.
TEST(ConstantFolding, RefusesWhatCannotBe) {
  const auto refused = [](const Node& n, const std::vector<Tensor>& inputs) {
    EXPECT_THROW((void)fold_of(n, inputs), Error) << n.op;
  };
  refused(node("Range"), {ints({0}), ints({1}), ints({0})});
  refused(node("Range"), {ints({0}), ints({INT64_MAX}), ints({1})});
  refused(node("Range"), {ints({INT64_MAX}), ints({INT64_MIN}), ints({-1})});
  refused(node("Range"), {kMatrix, ints({1}), ints({1})});
  refused(node("Mod"), {ints({1}), ints({0})});
  refused(node("Not"), {kMatrix});
  const Tensor update = Tensor::of({1}, {1});
  refused(node("ScatterND"), {kMatrix, Tensor::of_ints({1, 2}, {0, 3}), update});
  refused(node("ScatterND"), {kMatrix, Tensor::of_ints({1, 2}, {-3, 0}), update});
  refused(node("ScatterND"), {kMatrix, Tensor::of_ints({1, 3}, {0, 0, 0}), update});
  refused(node("ScatterND"), {kMatrix, Tensor::of_ints({1, 1}, {0}), update});
  refused(node("ScatterND"), {kMatrix, Tensor::of_ints({1, 0}, {}), update});
  refused(node("ScatterND"), {kMatrix, Tensor::of_ints({1, 2}, {0, 0})});
  refused(node("Gather"), {kMatrix, ints({2})});
  refused(node("Gather"), {kMatrix, ints({-3})});
  refused(node("Gather", {{"axis", std::int64_t{2}}}), {kMatrix, ints({0})});
  refused(node("Gather"), {kMatrix});
  refused(node("Transpose", {{"perm", Ints{0, 0}}}), {kMatrix});
  refused(node("Reshape"), {kMatrix, ints({4, -1})});
  refused(node("Reshape"), {kMatrix, ints({-1, -1})});
  refused(node("Reshape"), {kMatrix, ints({1, 1, 1, 0})});
  refused(node("Concat", {{"axis", std::int64_t{0}}}), {kMatrix, Tensor::of({1, 2}, {1, 2})});
  refused(node("Slice"), {kMatrix, ints({0}), ints({1}), ints({0}), ints({0})});
  refused(node("Div"), {ints({1}), ints({0})});
  refused(node("Add"), {kMatrix, Tensor::of({2}, {1, 2})});
  refused(node("ConstantOfShape"), {ints({1 << 20, 1 << 20})});
  refused(node("ConstantOfShape"), {ints({-1})});
  refused(node("Unsqueeze"), {kMatrix, ints({0, 0})});
  refused(node("Cast", {{"to", std::int64_t{8}}}), {kMatrix});
  refused(node("Cast"), {kMatrix});
}

}  // namespace
}  // namespace moil::onnx
