#include "daemon/worker/guarded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>

#include "base/files/disk_full.h"

namespace moil::worker {
namespace {

struct NoError {};  // of no known kind

struct Thrown {
  std::string what;
  std::function<void()> work;
  int exit_code;
  std::string code;  // of the event
};

const std::vector<Thrown>& all_kinds() {
  static const std::vector<Thrown> kinds = {
      {"bad data", [] { throw Error(ErrorCode::kBadData, "x"); }, daemon::kExitBadData, "bad_data"},
      {"a bug", [] { throw Error(ErrorCode::kInternal, "x"); }, daemon::kExitSoftware, "internal"},
      {"a full disk", [] { throw DiskFull("x"); }, daemon::kExitNoRoom, "resource_exhausted"},
      {"no memory", [] { throw std::bad_alloc(); }, daemon::kExitSoftware, "resource_exhausted"},
      {"a library's", [] { throw std::out_of_range("x"); }, daemon::kExitSoftware, "internal"},
      {"a file's",
       [] {
         throw std::filesystem::filesystem_error(
             "x", "/nowhere", std::make_error_code(std::errc::no_such_file_or_directory));
       },
       daemon::kExitBadData, "not_found"},
      {"an unknown kind", [] { throw NoError{}; }, daemon::kExitSoftware, "internal"},
      {"a number", [] { throw 7; }, daemon::kExitSoftware, "internal"},
  };
  return kinds;
}

struct Ending {
  int status = 0;  // as waitpid() tells it
  std::string said;
};

// In a process of its own, with its events.
Ending ending_of(const std::function<int(daemon::EventWriter&)>& work) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    daemon::EventWriter events(ends[1]);
    ::_exit(work(events));
  }
  ::close(ends[1]);
  Ending ending;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    ending.said.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  EXPECT_EQ(::waitpid(child, &ending.status, 0), child);
  return ending;
}

void expect_told(const Ending& ending, const Thrown& thrown) {
  ASSERT_TRUE(WIFEXITED(ending.status)) << "it ended by signal " << WTERMSIG(ending.status);
  EXPECT_EQ(WEXITSTATUS(ending.status), thrown.exit_code);
  const Json event = json_or_discarded(ending.said);
  ASSERT_TRUE(event.is_object()) << ending.said;
  EXPECT_EQ(event["event"], "error");
  EXPECT_EQ(event["code"], thrown.code);
  EXPECT_NE(event["message"], "");
}

// What ends by a signal is taken for a crash, after which the cache is built anew.
TEST(Guarded, NoKindOfErrorEndsAWorkerByASignal) {
  for (const Thrown& thrown : all_kinds()) {
    SCOPED_TRACE(thrown.what);
    expect_told(ending_of([&](daemon::EventWriter& events) {
                  return guarded(events, [&]() -> int {
                    thrown.work();
                    return 0;
                  });
                }),
                thrown);
  }
}

TEST(Guarded, NorDoesOneThatNoFrameCanCatch) {
  for (const Thrown& thrown : all_kinds()) {
    SCOPED_TRACE(thrown.what);
    expect_told(ending_of([&](daemon::EventWriter& events) {
                  guard_threads(events);
                  std::thread(thrown.work).join();
                  return 0;
                }),
                thrown);
  }
}

TEST(Guarded, WorkThatEndsWellSaysNothing) {
  const Ending ending =
      ending_of([](daemon::EventWriter& events) { return guarded(events, [] { return 42; }); });
  EXPECT_EQ(WEXITSTATUS(ending.status), 42);
  EXPECT_EQ(ending.said, "");
}

}  // namespace
}  // namespace moil::worker
