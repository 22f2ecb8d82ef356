// The energy of a job: measured while its worker runs, over all attempts, in its result.
#include "daemon/jobs/job_energy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/files/file.h"
#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

void count(const FakeWorld& world, double joules) {
  const fs::path zone = world.machine / "sys/class/powercap/intel-rapl:0";
  fs::create_directories(zone);
  std::ofstream(zone / "name") << "package-0\n";
  write_file_atomic(zone / "energy_uj", std::to_string(std::llround(joules * 1e6)) + "\n");
}

class JobEnergies : public ::testing::Test {
 protected:
  // An attempt that takes so much.
  void attempt(double joules) {
    count(world_, 100);
    JobEnergy energy(loop_, world_, file_);
    count(world_, 100 + joules);
    energy.end();
  }
  Json told() const {
    Json result = {{"details", {{"epochs", 3}}}};
    add_energy(result, file_);
    EXPECT_EQ(result["details"]["epochs"], 3);
    return result["details"].at("energy");
  }

  TempFolder folder_;
  const fs::path file_ = folder_ / "energy.json";
  EventLoop loop_;
  FakeWorld world_;
};

TEST_F(JobEnergies, AttemptsAddUp) {
  attempt(3.5);
  EXPECT_EQ(told(), Json({{"joules", 3.5}, {"source", "processor package"}}));
  attempt(2);
  EXPECT_EQ(told()["joules"], 5.5);
}

TEST_F(JobEnergies, WhereNobodyMeasuredItIsNull) {
  EXPECT_TRUE(told().is_null());
  JobEnergy(loop_, world_, file_).end();
  EXPECT_TRUE(told().is_null());
  attempt(2);
  EXPECT_TRUE(told().is_null()) << "of the first attempt nothing is known";
}

TEST_F(JobEnergies, AnAttemptWhoseEndNobodySawIsNotKnown) {
  attempt(2);
  { const JobEnergy killed(loop_, world_, file_); }
  EXPECT_TRUE(told().is_null());
  attempt(2);
  EXPECT_TRUE(told().is_null());
}

TEST_F(JobEnergies, WhatWasMeasuredOfDifferentThingsIsNotAddedUp) {
  std::ofstream(file_) << R"({"joules": 7, "source": "battery"})";
  attempt(2);
  EXPECT_TRUE(told().is_null());
}

TEST_F(JobEnergies, ADamagedRecordIsNotBelieved) {
  for (const char* text : {"", "{", "[1]", "7", R"({"joules": -1, "source": "battery"})",
                           R"({"joules": "1", "source": "battery"})", R"({"joules": 1})"}) {
    std::ofstream(file_) << text;
    EXPECT_TRUE(told().is_null()) << text;
    attempt(2);
    EXPECT_TRUE(told().is_null()) << text;
  }
}

TEST_F(JobEnergies, ResultsWithoutDetailsStayAsTheyAre) {
  for (const Json& odd : {Json{{"promoted", true}}, Json{{"details", 7}}}) {
    Json result = odd;
    add_energy(result, file_);
    EXPECT_EQ(result, odd);
  }
}

class JobsEnergy : public StartedTest {
 protected:
  JobsEnergy() {
    start();
    import_model(*server_);
  }
  Json energy_of(std::int64_t id) const { return wait_for(id)["result"]["details"].at("energy"); }
};

TEST_F(JobsEnergy, AResultSaysThatItIsNotKnown) {
  EXPECT_TRUE(energy_of(submit("night")).is_null());
}

TEST_F(JobsEnergy, AJobThatWasStoppedAndResumedAddsUpItsAttempts) {
  count(server_->world, 10);
  const auto id = submit("slow", false);
  wait_for_training(id);
  count(server_->world, 11.5);
  server_->world.minute = 720;
  wait_for(id, "queued");
  count(server_->world, 500);  // while nothing runs
  server_->world.minute = 180;
  wait_for_training(id);
  count(server_->world, 500.25);
  let_go();
  EXPECT_EQ(energy_of(id), Json({{"joules", 1.75}, {"source", "processor package"}}));
}

TEST_F(JobsEnergy, ADaemonThatIsStoppedKeepsWhatItMeasured) {
  count(server_->world, 10);
  const auto id = submit("slow");
  wait_for_training(id);
  count(server_->world, 11.5);
  server_.reset();
  Json result = {{"details", Json::object()}};
  add_energy(result, StateLayout(state()).job_energy(id));
  EXPECT_EQ(result["details"]["energy"]["joules"], 1.5);
}

}  // namespace
}  // namespace moil::daemon::test
