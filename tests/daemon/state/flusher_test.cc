// Commits that wait for no disk, and who waits for it in their stead.
#include "daemon/state/flusher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "daemon/state/flushed_later.h"
#include "tests/daemon/support/test_server.h"

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

class FlusherTest : public ::testing::Test {
 protected:
  FlusherTest() : file_(folder_ / "a.db"), database_(file_, Database::Access::kReadWrite) {
    database_.run(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; "
        "CREATE TABLE notes (text TEXT)");
  }

  void note(const std::string& text) {
    Statement(database_, "INSERT INTO notes VALUES (?)").bind(std::string_view(text)).run();
  }
  // Runs the loop until `is_done`, for a while.
  bool run_until(const std::function<bool()>& is_done) {
    int left = 5000;
    const std::function<void()> look = [&] {
      if (is_done() || --left == 0) return loop_.stop();
      loop_.after(1ms, look);
    };
    look();
    loop_.run();
    return is_done();
  }

  TempFolder folder_;
  EventLoop loop_;
  const fs::path file_;
  Database database_;
};

TEST_F(FlusherTest, WhatFollowsACommitComesAfterItsFlushAndInOrder) {
  Flusher flusher(loop_, database_, file_);
  EXPECT_EQ(database_.number("PRAGMA synchronous"), 1) << "a commit waits for nothing";
  std::string told;
  flusher.then([&](const std::exception_ptr&) { told += "0"; });
  EXPECT_EQ(told, "0") << "nothing was committed";
  note("first");
  flusher.then([&](const std::exception_ptr& error) { told += error ? "!" : "1"; });
  note("second");
  flusher.then([&](const std::exception_ptr& error) { told += error ? "!" : "2"; });
  EXPECT_EQ(told, "0");
  EXPECT_TRUE(run_until([&] { return told.size() == 3; }));
  EXPECT_EQ(told, "012");
  flusher.then([&](const std::exception_ptr&) { told += "3"; });
  EXPECT_EQ(told, "0123") << "all is on the disk";
}

TEST_F(FlusherTest, NobodyWaitsForWhatMayBeLost) {
  Flusher flusher(loop_, database_, file_);
  {
    const FlushedLater later;
    note("a position");
  }
  bool is_told = false;
  flusher.then([&](const std::exception_ptr&) { is_told = true; });
  EXPECT_TRUE(is_told);
}

TEST_F(FlusherTest, AFlushThatFailsIsTriedAgainByWayOfTheFile) {
  // By this name the database is found, and no log.
  fs::create_symlink(file_, folder_ / "alias.db");
  Flusher flusher(loop_, database_, folder_ / "alias.db");
  note("kept");
  std::optional<bool> failed;
  flusher.then([&](const std::exception_ptr& error) { failed = error != nullptr; });
  ASSERT_TRUE(run_until([&] { return failed.has_value(); }));
  EXPECT_FALSE(*failed);
  EXPECT_THAT(read_text(file_), ::testing::HasSubstr("kept")) << "without its log";
}

TEST_F(FlusherTest, WhoWaitsIsToldThatTheDiskDoesNotKeepIt) {
  Flusher flusher(loop_, database_, folder_ / "nowhere" / "a.db");
  note("lost");
  std::string why;
  flusher.then([&](const std::exception_ptr& error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const Error& e) {
      why = e.what();
    }
  });
  ASSERT_TRUE(run_until([&] { return !why.empty(); }));
  EXPECT_THAT(why, ::testing::HasSubstr("nowhere"));
}

TEST_F(FlusherTest, WhatIsErasedIsGoneFromTheFiles) {
  Flusher flusher(loop_, database_, file_);
  note("a secret");
  database_.run("DELETE FROM notes");
  std::vector<bool> erased;
  std::optional<Database> reader(std::in_place, file_, Database::Access::kReadOnly);
  std::optional<Statement> reads(std::in_place, *reader, "SELECT count(*) FROM sqlite_master");
  ASSERT_TRUE(reads->step());
  note("another");  // behind what the reader sees
  const Flusher::Erased again = [&](bool is_erased, const std::exception_ptr&) {
    erased.push_back(is_erased);
    reads.reset();
    reader.reset();
    if (!is_erased && erased.size() == 1) flusher.erase(again);
  };
  flusher.erase(again);
  run_until([&] { return erased.size() == 2; });
  EXPECT_THAT(erased, ::testing::ElementsAre(false, true)) << "not while what was there is read";
  for (const char* end : {"", "-wal"})
    EXPECT_THAT(read_text(file_.string() + end), ::testing::Not(::testing::HasSubstr("secret")));
}

TEST_F(FlusherTest, AtItsEndCommitsWaitForTheDiskAgain) {
  {
    Flusher flusher(loop_, database_, file_);
    note("under way");
  }
  EXPECT_EQ(database_.number("PRAGMA synchronous"), 2);
  note("afterwards");
}

}  // namespace
}  // namespace moil::daemon::test
