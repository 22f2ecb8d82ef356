#include "engine/elastic/elastic_record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace moil {
namespace {

TEST(ElasticRecord, ReadsBackExactly) {
  const ElasticInterval interval{3,
                                 2,
                                 {"a.weight", "b.bias"},
                                 {{"a.weight", 1.0 / 3}, {"b.bias", -2}},
                                 "relu3",
                                 0.1,
                                 0.6,
                                 0.7,
                                 0.11,
                                 4096,
                                 0.5,
                                 0.25,
                                 0.125,
                                 1.5,
                                 42,
                                 7.5};
  const auto json = nlohmann::json::parse(to_json(interval).dump());
  const ElasticInterval read = elastic_interval_from_json(json);
  EXPECT_EQ(to_json(read), to_json(interval));
  EXPECT_EQ(read.epochs, 2);
  EXPECT_EQ(read.selection, interval.selection);
  EXPECT_EQ(read.importance, interval.importance);
  EXPECT_EQ(read.cut, "relu3");
  EXPECT_EQ(read.share, 0.6);
  EXPECT_EQ(read.schedule_end, 0.7);
  EXPECT_EQ(read.caching_seconds, 1.5);
  EXPECT_EQ(read.first_step, 42);

  const ProfileInForce profile{6, {{{"a", 1, 2, 3, 4, {}}}, 1, 8}, 0.5, "drift"};
  const ProfileInForce again = profile_in_force_from_json(to_json(profile));
  EXPECT_EQ(to_json(again), to_json(profile));
  EXPECT_EQ(again.why, "drift");
  EXPECT_FALSE(again.overhead.has_value());
}

TEST(ElasticRecord, KeepsAnOverheadThatIsKnown) {
  ProfileInForce profile;
  profile.overhead = {.read = 0.25, .choose = 3, .probe = 2};
  const ProfileInForce again = profile_in_force_from_json(to_json(profile));
  ASSERT_TRUE(again.overhead.has_value());
  EXPECT_EQ(again.overhead->read, 0.25);
  EXPECT_EQ(again.overhead->choose, 3);
  EXPECT_EQ(again.overhead->probe, 2);
}

TEST(ElasticRecord, RefusesWhatIsNoRecord) {
  EXPECT_THROW((void)elastic_interval_from_json({{"epoch", "first"}}), Error);
  EXPECT_THROW((void)profile_in_force_from_json({{"epoch", 1}}), Error);
}

}  // namespace
}  // namespace moil
