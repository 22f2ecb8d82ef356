#include "daemon/process/spawn.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace moil::daemon {
namespace {

// What a program prints that is started so.
std::string printed(const ProcessOptions& options) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const int pid = spawn_process(options, ends[1]);
  write_end.reset();
  std::string text;
  std::array<char, 256> part{};
  for (ssize_t n = 0; (n = ::read(read_end.get(), part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  return text;
}

TEST(SpawnProcess, GivesTheChildItsPriorities) {
  ProcessOptions options;
  options.nice = 7;
  options.arguments = {"/usr/bin/nice"};
  EXPECT_EQ(printed(options), "7\n");
  options.arguments = {"/usr/bin/ionice"};
  options.io_class = IoClass::kIdle;
  EXPECT_EQ(printed(options), "idle\n");
  options.io_class = IoClass::kBestEffort;
  EXPECT_EQ(printed(options), "best-effort: prio 7\n");
}

TEST(SpawnProcess, SaysWhatCannotBeStarted) {
  ProcessOptions options;
  options.arguments = {"/nowhere/program"};
  EXPECT_THROW(printed(options), Error);
}

}  // namespace
}  // namespace moil::daemon
