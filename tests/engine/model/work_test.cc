#include "engine/model/work.h"

#include <gtest/gtest.h>

namespace moil {
namespace {

double work_of(LayerDescription layer, InputDescription input) {
  layer.name = "layer";
  layer.inputs = {input.name};
  return multiply_adds(build_graph({"one", {std::move(input)}, {layer}, {"layer"}}, 1)).at(0);
}

Property whole(std::int64_t number) { return number; }

TEST(Work, OfALayerIsWhatItMultiplies) {
  EXPECT_EQ(work_of({"", "fully_connected", {}, {{"units", whole(5)}}}, {"x", {7}}), 5 * 7);
  EXPECT_EQ(work_of({"", "fully_connected", {}, {{"units", whole(5)}}}, {"x", {3, 7}}), 3 * 5 * 7);
  EXPECT_EQ(work_of({"", "conv2d", {}, {{"out_channels", whole(6)}, {"kernel", whole(3)}}},
                    {"x", {2, 8, 8}}),
            6 * 6 * 6 * 2 * 9);
  EXPECT_EQ(work_of({"", "relu", {}, {}}, {"x", {7}}), 7);
}

// Four gates of a state and of an input as wide; three projections and one.
TEST(Work, OfSeveralMatricesIsThatOfAll) {
  EXPECT_EQ(work_of({"", "lstm", {}, {{"units", whole(8)}}}, {"x", {3, 8}}), 3 * 4 * 8 * (8 + 8));
  EXPECT_EQ(work_of({"", "multi_head_attention", {}, {{"heads", whole(2)}}}, {"x", {3, 8}}),
            3 * 4 * 8 * 8);
}

TEST(Work, OfATableIsThatOfPickingItsRows) {
  EXPECT_EQ(work_of({"", "embedding", {}, {{"rows", whole(1000)}, {"width", whole(4)}}},
                    {"x", {3}, ElementType::kInt32}),
            3 * 4);
}

}  // namespace
}  // namespace moil
