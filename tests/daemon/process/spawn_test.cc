#include "daemon/process/spawn.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/files/unique_fd.h"
#include "daemon/process/work_group.h"

namespace moil::daemon {
namespace {

// What a program prints that is started so. `begun`: after its start.
std::string printed(
    const ProcessOptions& options, const std::function<void()>& begun = [] {}) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const int pid = spawn_process(options, ends[1]);
  begun();
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

// They fall once it runs, so it asks for them when it is told to.
std::string priorities(ProcessOptions options, const std::string& command) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const UniqueFd read_end(ends[0]), write_end(ends[1]);
  options.keep_open = {ends[0]};
  options.arguments = {"/bin/sh", "-c", "read -r go <&" + std::to_string(ends[0]) + "; " + command};
  return printed(options, [&] { EXPECT_EQ(::write(write_end.get(), "\n", 1), 1); });
}

TEST(SpawnProcess, GivesTheChildItsPriorities) {
  ProcessOptions options;
  options.nice = 7;
  EXPECT_EQ(priorities(options, "nice"), "7\n");
  options.io_class = IoClass::kIdle;
  EXPECT_EQ(priorities(options, "ionice"), "idle\n");
  options.io_class = IoClass::kBestEffort;
  EXPECT_EQ(priorities(options, "ionice"), "best-effort: prio 7\n");
}

TEST(SpawnProcess, SaysWhatCannotBeStarted) {
  ProcessOptions options;
  options.arguments = {"/nowhere/program"};
  EXPECT_THROW(printed(options), Error);
}

std::string slurped(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A made-up control group, which a worker that is short of memory must not share with the daemon.
class ServiceGroup : public ::testing::Test {
 protected:
  ServiceGroup() {
    std::filesystem::create_directories(root_ / "proc/self");
    std::ofstream(root_ / "proc/self/cgroup") << "0::/system.slice/moild.service\n";
    for (const char* part : {"daemon", "work"}) {
      std::filesystem::create_directories(group_ / part);
      std::ofstream(group_ / part / "cgroup.procs");
    }
    for (const char* limit : {"memory.high", "memory.max"})
      std::ofstream(group_ / "work" / limit) << "max";
    std::ofstream(group_ / "cgroup.subtree_control");
    std::ofstream(group_ / "memory.high") << "1073741824\n";
    std::ofstream(group_ / "memory.max") << "max\n";
  }
  ~ServiceGroup() override { std::filesystem::remove_all(root_); }
  static std::filesystem::path new_folder() {
    std::string name = ::testing::TempDir() + "/moil-group-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw system_error("mkdtemp", errno);
    return name;
  }
  const std::filesystem::path root_ = new_folder();
  const std::filesystem::path group_ = root_ / "sys/fs/cgroup/system.slice/moild.service";
};

TEST_F(ServiceGroup, AWorkerIsLimitedBelowItAndTheDaemonBesideTheWorker) {
  EXPECT_EQ(divide_group(root_), "") << "it is not ours";
  EXPECT_EQ(slurped(group_ / "daemon/cgroup.procs"), "");
  if (::setxattr(group_.c_str(), "user.delegate", "1", 1, 0) != 0)
    GTEST_SKIP() << "this file system keeps no marks";
  EXPECT_EQ(divide_group(root_), "workers have a control group of their own");
  EXPECT_EQ(slurped(group_ / "daemon/cgroup.procs"), "0");
  EXPECT_EQ(slurped(group_ / "cgroup.subtree_control"), "+memory");
  EXPECT_EQ(slurped(group_ / "work/memory.high"), std::to_string((1024 - 64) << 20));
  EXPECT_EQ(slurped(group_ / "work/memory.max"), "max") << "the service has no such limit";
  ProcessOptions options;
  options.arguments = {"/usr/bin/true"};
  printed(options);
  EXPECT_EQ(slurped(group_ / "work/cgroup.procs"), "0") << "each enters before it begins";
}

}  // namespace
}  // namespace moil::daemon
