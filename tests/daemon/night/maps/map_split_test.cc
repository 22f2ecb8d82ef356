#include "daemon/night/maps/map_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json/json.h"
#include "engine/io/model_json.h"
#include "engine/model/work.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

using ::testing::DoubleEq;
using ::testing::HasSubstr;

// 8x8 pixels; `narrow` has 2 channels, `wide` 32.
ModelDescription narrow_then_wide() {
  return parse_model(R"({"format":"moil-model","version":1,"name":"waist",
    "inputs":[{"name":"image","dims":[1,8,8]}],
    "layers":[
     {"name":"first","type":"conv2d","inputs":["image"],"properties":{"out_channels":16,"kernel":3,"padding":1}},
     {"name":"narrow","type":"conv2d","inputs":["first"],"properties":{"out_channels":2,"kernel":1}},
     {"name":"wide","type":"conv2d","inputs":["narrow"],"properties":{"out_channels":32,"kernel":1}},
     {"name":"last","type":"conv2d","inputs":["wide"],"properties":{"out_channels":8,"kernel":1}},
     {"name":"pool","type":"global_average_pool","inputs":["last"]},
     {"name":"classifier","type":"fully_connected","inputs":["pool"],"properties":{"units":3}}],
    "outputs":["classifier"]})");
}

constexpr double kFirst = 64 * 16 * 9, kNarrow = 64 * 2 * 16, kWide = 64 * 32 * 2;

TEST(MapSplit, MultiplyAddsAreCountedByWhatFeedsAnElement) {
  const auto work = multiply_adds(build_graph(narrow_then_wide(), 1));
  ASSERT_EQ(work.size(), 6U);
  EXPECT_THAT(work[0], DoubleEq(kFirst));
  EXPECT_THAT(work[1], DoubleEq(kNarrow));
  EXPECT_THAT(work[2], DoubleEq(kWide));
  EXPECT_THAT(work[5], DoubleEq(3 * 8));
}

class SplitOfTwoLayers : public ::testing::Test {
 protected:
  const ModelDescription model = narrow_then_wide();
  const Freeze freeze = freeze_all_but_last(model, 2);
};

TEST_F(SplitOfTwoLayers, IsThatOfTheLayersWhereItsMapsFit) {
  const MapSplit split = choose_map_split(model, freeze, {100, 4, 100 * (12288 + 44)});
  EXPECT_EQ(split.value, "wide");
  EXPECT_EQ(split.map_bytes, 12288U + 44) << "8,192 and 16 bytes take three pages";
  EXPECT_EQ(split.fitting, 1);
  EXPECT_EQ(split.saved, 1);
  EXPECT_EQ(split.why, "");
}

TEST_F(SplitOfTwoLayers, IsFurtherBackWhereSmallerMapsSpareMore) {
  const MapSplit split = choose_map_split(model, freeze, {100, 4, 150'000});
  EXPECT_EQ(split.value, "narrow");
  EXPECT_EQ(split.dims, (std::vector<std::int64_t>{2, 8, 8}));
  EXPECT_EQ(split.fitting, 1);
  EXPECT_THAT(split.saved, DoubleEq((kFirst + kNarrow) / (kFirst + kNarrow + kWide)));
  EXPECT_THAT(split.why, HasSubstr("there is room for 0.1 MB"));
  EXPECT_THAT(split.why, HasSubstr("those of narrow take"));
  EXPECT_EQ(known_map_split(model, freeze, {100, 4}, "narrow").value, "narrow");
}

TEST_F(SplitOfTwoLayers, KeepsWhatFitsWhereNothingFitsWhole) {
  const MapSplit split = choose_map_split(model, freeze, {100, 4, 30'000});
  EXPECT_EQ(split.value, "narrow");
  EXPECT_LT(split.fitting, 1);
  EXPECT_THAT(split.why, HasSubstr("are kept"));
}

TEST_F(SplitOfTwoLayers, ARecordOfAnotherNetworkIsDamaged) {
  EXPECT_EQ(error_of([&] {
              (void)known_map_split(model, freeze, {100, 4}, "pool");
            }),
            ErrorCode::kBadData);
}

TEST(MapSplit, MapsAreCountedByPartsAndViews) {
  data::Mix mix;
  mix.train.resize(2);
  mix.train[0].parts = 3;
  mix.local_validation.resize(1);
  mix.local_validation[0].parts = 5;
  const data::KindPtr each = grey_images(8);
  const data::KindPtr together = data::kind_from_json(
      {{"kind", "sound"}, {"front_end", {{"type", "log_mel"}}}, {"train", "clips"}});
  const auto count = [&](std::int64_t epochs, bool plain, bool means) {
    return count_maps(mix, {mix.train, epochs, plain}, 4, means ? *together : *each);
  };
  EXPECT_EQ(count(1000, true, false), (3U + 1) * 4 + 5) << "each is made once";
  EXPECT_EQ(count(5, false, false), 5U + 4 + 5) << "what no epoch shows is not made";
  EXPECT_EQ(count(5, true, false), 8U + 4 + 5);
  EXPECT_EQ(count(2, false, true), 2U * 3 + 2 + 5) << "all parts of a view together";
  EXPECT_EQ(count(0, true, false), 3U + 1 + 5);
  mix.train[0].ref.source = data::Source::kLocal;
  EXPECT_EQ(count(2, false, true), 2U * 3 + 2 + 5 + 1)
      << "and silence beside a sample of the user's";
}

}  // namespace
}  // namespace moil::night
