// A result's file, and what the database keeps of it.
#include "daemon/spec/job_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files/file.h"
#include "tests/daemon/support/test_server.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

class JobResults : public ::testing::Test {
 protected:
  JobResults() { fs::create_directories(layout_.job(kJob)); }
  std::optional<Json> finished() const { return finished_result(layout_, kJob, "digits", 2); }

  static constexpr std::int64_t kJob = 7;
  TempFolder folder_;
  StateLayout layout_{folder_.path()};
};

JobResult result_with(bool promoted, Json details = Json::object()) {
  JobResult result;
  result.promoted = promoted;
  result.reason = "because";
  result.details = std::move(details);
  return result;
}

Json items(std::size_t count, std::size_t bytes) {
  return Json(std::vector<std::string>(count, std::string(bytes, 'x')));
}

TEST_F(JobResults, AJobIsDoneOnceItsResultAndItsVersionAreThere) {
  EXPECT_FALSE(finished());
  write_result(layout_, kJob, result_with(true));
  EXPECT_FALSE(finished());
  fs::create_directories(layout_.version("digits", 2));
  ASSERT_TRUE(finished());
  EXPECT_EQ((*finished())["reason"], "because");
}

TEST_F(JobResults, WhatTheGuardKeptBackHasNoVersion) {
  write_result(layout_, kJob, result_with(false));
  ASSERT_TRUE(finished());
  EXPECT_EQ((*finished())["promoted"], false);
}

TEST_F(JobResults, ADamagedFileIsNoResult) {
  write_result(layout_, kJob, result_with(false, {{"list", items(10, 100)}}));
  fs::resize_file(layout_.job_result(kJob), 300);
  EXPECT_FALSE(finished());
  std::ofstream(layout_.job_result(kJob)) << "[1, 2]";
  EXPECT_FALSE(finished());
}

// Whatever the worker tells of its work, that it did the work is never lost.
TEST_F(JobResults, ListsThatAreTooLongAreLeftOutAndNamed) {
  Json details = {{"deep", {{"longest", items(20'000, 1000)}, {"short", items(3, 10)}}},
                  {"long", items(10'000, 1000)}};
  write_result(layout_, kJob, result_with(false, std::move(details)));
  EXPECT_LT(fs::file_size(layout_.job_result(kJob)), kMostResultBytes + 200);
  const Json found = finished().value();
  EXPECT_EQ(found["details"]["too_long"], Json({"/details/deep/longest"}));
  EXPECT_EQ(found["details"]["long"].size(), 10'000U);
  EXPECT_EQ(found["details"]["deep"]["short"].size(), 3U);
}

TEST(SplitResult, AShortResultStaysAsItIs) {
  const Json result = {{"promoted", true}, {"details", {{"curve", items(100, 10)}}}};
  const SplitResult split = split_result(result);
  EXPECT_EQ(split.result, result);
  EXPECT_TRUE(split.lists.empty());
}

TEST(SplitResult, LongListsAreKeptBesideIt) {
  const Json intervals = items(400, 10'000), curve = items(400, 100);
  const SplitResult split = split_result(
      {{"promoted", true},
       {"details", {{"elastic", {{"rho", 0.5}, {"intervals", intervals}}}, {"curve", curve}}}});
  EXPECT_EQ(split.result["lists"], Json({{"/details/elastic/intervals", 400}}));
  EXPECT_EQ(split.result["details"]["elastic"], Json({{"rho", 0.5}}));
  EXPECT_EQ(split.result["details"]["curve"], curve);
  ASSERT_EQ(split.lists.size(), 1U);
  EXPECT_EQ(split.lists.at("/details/elastic/intervals"), intervals);
}

// Who forgets a sample looks for it in the job's result.
TEST(SplitResult, ListsOfSamplesStay) {
  const Json sample = {{"digest", std::string(32, 'a')}, {"name", std::string(1000, 'x')}};
  const Json result = {{"details", {{"left_out", std::vector<Json>(100, sample)}}}};
  ASSERT_GT(result.dump().size(), kMostKeptBytes);
  EXPECT_EQ(split_result(result).result, result);
}

TEST(SplitResult, TextsAloneCannotBeSplit) {
  const Json result = {{"reason", std::string(kMostKeptBytes, 'x')}};
  EXPECT_EQ(split_result(result).result, result);
}

}  // namespace
}  // namespace moil::daemon::test
