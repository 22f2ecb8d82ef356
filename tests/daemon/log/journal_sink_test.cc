// What a line of the log is about, as its sink sees it. tests/e2e/journal_test.py has a journal.
#include "daemon/log/journal_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <mutex>
#include <optional>
#include <vector>

#include "daemon/log/job_log.h"
#include "daemon/log/journal.h"

namespace moil::daemon::test {
namespace {

// Keeps the lines with their contexts.
class Keeper : public spdlog::sinks::base_sink<std::mutex> {
 public:
  struct Line {
    std::string text;
    std::optional<LogContext> about;
  };
  std::vector<Line> lines;

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    Line line{{message.payload.data(), message.payload.size()}, {}};
    if (const LogContext* about = log_context()) line.about = *about;
    lines.push_back(line);
  }
  void flush_() override {}
};

TEST(JobLog, ALineKnowsWhatItIsAboutAndTheNextOneDoesNot) {
  const auto keeper = std::make_shared<Keeper>();
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", keeper));
  job_log(7, "digits", "train").info("worker {} started", 12);
  spdlog::info("another line");
  job_log(8).error("{}", "no {} here");
  spdlog::set_default_logger(before);
  ASSERT_EQ(keeper->lines.size(), 3U);
  EXPECT_EQ(keeper->lines[0].text, "job 7: worker 12 started");
  ASSERT_TRUE(keeper->lines[0].about.has_value());
  EXPECT_EQ(keeper->lines[0].about->job, 7);
  EXPECT_EQ(keeper->lines[0].about->model, "digits");
  EXPECT_EQ(keeper->lines[0].about->stage, "train");
  EXPECT_FALSE(keeper->lines[1].about.has_value());
  EXPECT_EQ(keeper->lines[2].text, "job 8: no {} here");
}

// JOURNAL_STREAM is inherited by whatever a service starts; stderr need not be.
TEST(Journal, IsStderrOnlyWhereItsDeviceAndInodeAre) {
  struct stat info {};
  ASSERT_EQ(::fstat(2, &info), 0);
  const std::string ours = std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
  const char* before = ::getenv("JOURNAL_STREAM");
  const std::optional<std::string> kept =
      before ? std::optional<std::string>(before) : std::nullopt;
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_FALSE(stderr_is_journal());
  ::setenv("JOURNAL_STREAM", ours.c_str(), 1);
  EXPECT_TRUE(stderr_is_journal());
  for (const std::string& other : {ours + "0", ours + " ", std::string("1"), std::string("a:b")}) {
    ::setenv("JOURNAL_STREAM", other.c_str(), 1);
    EXPECT_FALSE(stderr_is_journal()) << other;
  }
  kept ? ::setenv("JOURNAL_STREAM", kept->c_str(), 1) : ::unsetenv("JOURNAL_STREAM");
}

}  // namespace
}  // namespace moil::daemon::test
