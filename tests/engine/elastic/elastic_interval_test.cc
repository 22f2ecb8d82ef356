#include "engine/elastic/elastic_interval.h"

#include <gtest/gtest.h>

namespace moil {
namespace {

// Epochs 0 to 2, 3 to 5, 6 and 7.
ElasticInterval interval(std::int64_t epoch, double share, double schedule_end = 1,
                         std::int64_t first_step = 0) {
  ElasticInterval i;
  i.epoch = epoch;
  i.epochs = epoch < 6 ? 3 : 2;
  i.share = share;
  i.schedule_end = schedule_end;
  i.first_step = first_step;
  return i;
}

// For eight epochs, in the time of four.
double end_of(const std::vector<ElasticInterval>& so_far, const ElasticInterval& next) {
  return schedule_end(so_far, next, 8, 0.5);
}

TEST(ElasticInterval, AnIntervalBeginsWhereTheOneBeforeEnds) {
  EXPECT_EQ(end_epoch({}), 0);
  EXPECT_EQ(end_epoch({interval(0, 0.9)}), 3);
  EXPECT_EQ(end_epoch({interval(0, 0.9), interval(3, 0.9), interval(6, 0.1)}), 8);
}

TEST(ElasticInterval, AnIntervalUsesItsShareInEachEpoch) {
  EXPECT_EQ(used_epochs({}), 0);
  EXPECT_DOUBLE_EQ(used_epochs({interval(0, 0.75), interval(3, 0.5), interval(6, 0.125)}), 4);
}

TEST(ElasticInterval, TheScheduleIsAsFarOnAsTheTime) {
  const ElasticInterval first = interval(0, 0.75);
  const double end = end_of({}, first);
  EXPECT_DOUBLE_EQ(end, 2.25 / 4);
  EXPECT_DOUBLE_EQ(end_of({interval(0, 0.75, end)}, interval(3, 0.5)), 3.75 / 4);
  EXPECT_EQ(end_of({interval(0, 0.75, end)}, interval(3, 2)), 1);  // no time is left
  EXPECT_EQ(end_of({interval(0, 0.1, 0.1), interval(3, 0.1, 0.2)}, interval(6, 0.1)),
            1);  // and the last goes to the end, whatever it uses
}

TEST(ElasticInterval, AnIntervalGoesThroughItsPartOfTheSchedule) {
  const ScheduleSpan first = span_of_last({interval(0, 0.75, 0.6)}, 10);
  EXPECT_EQ(first.begin, 0);
  EXPECT_EQ(first.end, 0.6);
  EXPECT_EQ(first.steps, 30);
  const ScheduleSpan last = span_of_last({interval(3, 0.5, 0.9, 30), interval(6, 0.1, 1, 60)}, 10);
  EXPECT_EQ(last.begin, 0.9);
  EXPECT_EQ(last.end, 1);
  EXPECT_EQ(last.first_step, 60);
  EXPECT_EQ(last.steps, 20);
}

}  // namespace
}  // namespace moil
