#include "engine/elastic/timing_profile_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace moil {
namespace {

TimingProfile profile() {
  return {{{"fc",
            0.1,
            0.2,
            1.0 / 3,
            0.4,
            {{"fc.weight", 0.3, 0.2, 1e-9, 1.0 / 7, 1e-10}, {"fc.bias", 0, 0.1, 0.5}}},
           {"relu", 0.01, 0.02, 0, 0.02, {}}},
          0.11,
          1.7,
          1e-4,
          {{0.25, 1.2}, {1, 0.97}},
          {{0.125, 0.5}}};
}

TEST(TimingProfileJson, ReadsBackExactly) {
  const auto text = to_json(profile()).dump();
  const TimingProfile read = timing_profile_from_json(nlohmann::json::parse(text));
  EXPECT_EQ(to_json(read), to_json(profile()));
  EXPECT_EQ(read.layers[0].all_gradient, 1.0 / 3);
  EXPECT_EQ(read.layers[0].weights[0].lone_gradient, 1.0 / 7);
  EXPECT_EQ(read.layers[0].weights[0].lone_apply, 1e-10);
  EXPECT_EQ(read.layers[0].weights[1].name, "fc.bias");
  EXPECT_FALSE(read.layers[0].weights[1].is_large());
  EXPECT_TRUE(read.layers[1].weights.empty());
  ASSERT_EQ(read.backward.size(), 2U);
  EXPECT_EQ(read.backward[0].share, 0.25);
  EXPECT_EQ(read.backward[0].factor, 1.2);
  ASSERT_EQ(read.kernelless_backward.size(), 1U);
  EXPECT_EQ(read.kernelless_backward[0].share, 0.125);
}

// As they were kept before whole passes were measured.
TEST(TimingProfileJson, ReadsAProfileWithoutWholePasses) {
  auto json = to_json(profile());
  json.erase("backward");
  json.erase("kernelless_backward");
  EXPECT_TRUE(timing_profile_from_json(json).backward.empty());
  EXPECT_TRUE(timing_profile_from_json(json).kernelless_backward.empty());
}

// As it was kept before the largest were measured alone.
TEST(TimingProfileJson, ReadsAWeightThatWasNotMeasuredAlone) {
  auto json = to_json(profile());
  json["layers"][0]["weights"][0].erase("lone_gradient");
  json["layers"][0]["weights"][0].erase("lone_apply");
  EXPECT_FALSE(timing_profile_from_json(json).layers[0].weights[0].is_large());
  json["layers"][0]["weights"][0]["lone_apply"] = -1;
  EXPECT_THROW((void)timing_profile_from_json(json), Error);
}

TEST(TimingProfileJson, RefusesWhatIsNoProfile) {
  EXPECT_THROW((void)timing_profile_from_json(nullptr), Error);
  EXPECT_THROW((void)timing_profile_from_json({{"forward", 1}, {"step", 1}, {"besides", 0}}),
               Error);
  auto json = to_json(profile());
  json["layers"][0]["forward"] = -1;
  EXPECT_THROW((void)timing_profile_from_json(json), Error);
  json["layers"][0]["forward"] = "long";
  EXPECT_THROW((void)timing_profile_from_json(json), Error);
  json = to_json(profile());
  json["backward"][0]["share"] = 1;  // as the next
  EXPECT_THROW((void)timing_profile_from_json(json), Error);
  json = to_json(profile());
  json["kernelless_backward"] = "none";
  EXPECT_THROW((void)timing_profile_from_json(json), Error);
}

}  // namespace
}  // namespace moil
