#include "engine/elastic/interval_schedule.h"

#include <gtest/gtest.h>

namespace moil {
namespace {

const IntervalSchedule kEight(3, 8, 0.5);  // epochs 0 to 2, 3 to 5, 6 and 7; time of four

ElasticInterval interval(std::int64_t epoch, double share, double schedule_end = 1,
                         std::int64_t first_step = 0) {
  ElasticInterval i;
  i.epoch = epoch;
  i.share = share;
  i.schedule_end = schedule_end;
  i.first_step = first_step;
  return i;
}

TEST(IntervalSchedule, TheLastIntervalIsAsLongAsIsLeft) {
  EXPECT_EQ(kEight.epochs_from(0), 3);
  EXPECT_EQ(kEight.epochs_from(3), 3);
  EXPECT_EQ(kEight.epochs_from(6), 2);
  EXPECT_EQ(kEight.end_of(4), 6);
  EXPECT_EQ(kEight.end_of(7), 8);
}

TEST(IntervalSchedule, AnIntervalBeginsWhereTheOneBeforeEnds) {
  EXPECT_TRUE(kEight.begins_at(0, {}));
  EXPECT_FALSE(kEight.begins_at(2, {interval(0, 0.9)}));
  EXPECT_TRUE(kEight.begins_at(3, {interval(0, 0.9)}));
}

TEST(IntervalSchedule, AnIntervalUsesItsShareInEachEpoch) {
  EXPECT_EQ(kEight.used({}), 0);
  EXPECT_DOUBLE_EQ(kEight.used({interval(0, 0.75), interval(3, 0.5), interval(6, 0.125)}), 4);
}

TEST(IntervalSchedule, TheScheduleIsAsFarOnAsTheTime) {
  const ElasticInterval first = interval(0, 0.75);
  const double end = kEight.schedule_end({}, first);
  EXPECT_DOUBLE_EQ(end, 2.25 / 4);
  EXPECT_DOUBLE_EQ(kEight.schedule_end({interval(0, 0.75, end)}, interval(3, 0.5)), 3.75 / 4);
  EXPECT_EQ(kEight.schedule_end({interval(0, 0.75, end)}, interval(3, 2)), 1);  // no time is left
  EXPECT_EQ(kEight.schedule_end({interval(0, 0.1, 0.1), interval(3, 0.1, 0.2)}, interval(6, 0.1)),
            1);  // and the last goes to the end, whatever it uses
}

TEST(IntervalSchedule, AnIntervalGoesThroughItsPartOfTheSchedule) {
  const ScheduleSpan first = kEight.span_of_last({interval(0, 0.75, 0.6)}, 10);
  EXPECT_EQ(first.begin, 0);
  EXPECT_EQ(first.end, 0.6);
  EXPECT_EQ(first.steps, 30);
  const ScheduleSpan last =
      kEight.span_of_last({interval(3, 0.5, 0.9, 30), interval(6, 0.1, 1, 60)}, 10);
  EXPECT_EQ(last.begin, 0.9);
  EXPECT_EQ(last.end, 1);
  EXPECT_EQ(last.first_step, 60);
  EXPECT_EQ(last.steps, 20);
}

}  // namespace
}  // namespace moil
