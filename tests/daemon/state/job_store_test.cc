#include "daemon/state/job_store.h"

#include "daemon/state/schedule_store.h"
#include "tests/daemon/support/stores.h"

namespace moil::daemon::test {
namespace {

class JobStoreTest : public StoresTest {
 protected:
  // Which job begins; 0: none.
  std::int64_t next(bool window_open, const std::vector<std::int64_t>& waiting = {}) const {
    const auto job = jobs_.next(window_open, waiting);
    return job ? job->id : 0;
  }
};

TEST_F(JobStoreTest, WhatIsToRunNowGoesBeforeAnyPriority) {
  const auto low = submit(false, -3), first = submit(false, 9), second = submit(false, 9);
  EXPECT_EQ(next(true), first) << "of one priority the older one";
  EXPECT_EQ(next(false), 0);
  const auto now = submit(true, -5);
  for (const bool is_open : {false, true}) EXPECT_EQ(next(is_open), now);
  EXPECT_EQ(next(true, {now}), first);
  EXPECT_EQ(next(true, {now, first, second}), low);
}

TEST_F(JobStoreTest, AJobThatWasBeingCancelledIsCancelledByARestart) {
  const auto cancelling = running(), interrupted = running();
  jobs_.set_cancelling(cancelling);
  jobs_.recover();
  EXPECT_EQ(jobs_.get(cancelling).state, JobState::kCancelled);
  EXPECT_FALSE(jobs_.get(cancelling).cancelling);
  EXPECT_TRUE(jobs_.get(cancelling).finished_at);
  EXPECT_EQ(jobs_.get(interrupted).state, JobState::kQueued);
  EXPECT_EQ(next(true), interrupted);
  EXPECT_EQ(database_.number("SELECT count(*) FROM versions WHERE state = 'incoming'"), 1)
      << "the number that a cancelled job had reserved is not kept";
}

// Earlier builds wrote train.sampling into every description.
TEST_F(JobStoreTest, AFieldThatIsNoMoreHoldsNoStoredJobAndNoScheduleUp) {
  const std::int64_t id = submit();
  const JobSpec spec = jobs_.get(id).spec;
  RecurringSpec weekly;
  weekly.name = "weekly";
  weekly.job = spec;
  ScheduleStore schedules(database_, jobs_);
  schedules.add(weekly);
  database_.run(
      "UPDATE jobs SET spec = json_set(spec, '$.train.sampling', 'importance');"
      "UPDATE schedules SET description = "
      "json_set(description, '$.job.train.sampling', 'importance')");
  ASSERT_EQ(database_.number("SELECT count(*) FROM jobs JOIN schedules WHERE "
                             "json_extract(spec, '$.train.sampling') = 'importance' AND "
                             "json_extract(description, '$.job.train.sampling') = 'importance'"),
            1);
  EXPECT_EQ(next(true), id);
  EXPECT_EQ(jobs_.get(id).spec, spec);
  EXPECT_EQ(jobs_.prepare(id).spec, spec);
  EXPECT_EQ(schedules.all().at(0).spec.job, spec);
  EXPECT_EQ(jobs_.get(schedules.submit(schedules.get("weekly"), 1, {})).spec, spec);
}

}  // namespace
}  // namespace moil::daemon::test
