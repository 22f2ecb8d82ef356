#include "engine/elastic/elastic_record.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json/json.h"

namespace moil {
namespace {

Json reread(const Json& record) { return parsed_json(record.dump()); }

ProfileInForce profile() {
  return {{{{"fc", 0.1, 1.0 / 3, {{"fc.weight", 1.0 / 7}, {"fc.bias", 1e-9}}},
            {"relu", 0.01, 0.02, {}}},
           0.11,
           1.7,
           1e-4},
          0.5,
          "stored"};
}

TEST(ElasticRecord, AnIntervalReadsBackExactly) {
  ElasticInterval interval;
  interval.epoch = 3;
  interval.epochs = 2;
  interval.selection = {"a.weight", "b.bias"};
  interval.importance = {{"a.weight", 1.0 / 3}, {"b.bias", -2}};
  interval.cut = "relu3";
  interval.share = 0.6;
  interval.schedule_end = 0.7;
  interval.measured = {0.1, 1.0 / 7};
  interval.caching_seconds = 1.5;
  interval.first_step = 42;
  const ElasticInterval read = interval_of(reread(record_of(interval)));
  EXPECT_EQ(record_of(read), record_of(interval));
  EXPECT_EQ(read.epochs, 2);
  EXPECT_EQ(read.selection, interval.selection);
  EXPECT_EQ(read.importance, interval.importance);
  EXPECT_EQ(read.cut, "relu3");
  EXPECT_EQ(read.share, 0.6);
  EXPECT_EQ(read.schedule_end, 0.7);
  EXPECT_EQ(read.measured.whole, 1.0 / 7);
  EXPECT_EQ(read.caching_seconds, 1.5);
  EXPECT_EQ(read.first_step, 42);
}

TEST(ElasticRecord, AProfileReadsBackExactly) {
  const ProfileInForce read = profile_of(reread(record_of(profile())));
  EXPECT_EQ(record_of(read), record_of(profile()));
  EXPECT_EQ(read.why, "stored");
  EXPECT_EQ(read.profile.layers[0].pass, 1.0 / 3);
  EXPECT_EQ(read.profile.layers[0].weights[0].update, 1.0 / 7);
  EXPECT_EQ(read.profile.layers[0].weights[1].name, "fc.bias");
  EXPECT_TRUE(read.profile.layers[1].weights.empty());
}

TEST(ElasticRecord, RefusesWhatIsNoRecord) {
  EXPECT_THROW((void)interval_of({{"epoch", "first"}}), Error);
  EXPECT_THROW((void)profile_of(nullptr), Error);
  EXPECT_THROW((void)profile_of({{"forward", 1}, {"step", 1}, {"besides", 0}}), Error);
  for (const Json& wrong : {Json(-1), Json("long"), Json(nullptr)}) {
    Json json = record_of(profile());
    json["profile"]["layers"][0]["forward"] = wrong;
    EXPECT_THROW((void)profile_of(json), Error) << wrong;
  }
}

}  // namespace
}  // namespace moil
