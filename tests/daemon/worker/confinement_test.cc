// What a confined process may still do: tried in children, which give it up as a worker does.
#include "daemon/worker/confinement.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "base/files/file.h"
#include "base/files/unnamed_file.h"
#include "base/process_memory.h"
#include "base/sqlite/database.h"
#include "daemon/worker/landlock.h"
#include "tests/plain_build.h"

namespace fs = std::filesystem;

namespace moil::worker {
namespace {

constexpr int kCannotConfine = 125;

// The status of a child that confines itself and then does `act`, which returns an errno (0: done).
int in_child(const Needs& needs, const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      (void)confine(needs);
      ::_exit(act());
    } catch (const std::exception& error) {
      (void)::write(STDERR_FILENO, error.what(), std::string_view(error.what()).size());
      ::_exit(kCannotConfine);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int outcome(long result) { return result < 0 ? errno : 0; }

int open_outcome(const fs::path& path, int flags) {
  return outcome(::open(path.c_str(), flags | O_CLOEXEC, 0600));
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    if (landlock_version() == 0) GTEST_SKIP() << "this kernel has no Landlock";
    std::string name = (fs::temp_directory_path() / "moil-confined-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* part : {"job", "pack", "other"}) {
      fs::create_directory(folder_ / part);
      std::ofstream(folder_ / part / "file") << "content";
    }
    std::ofstream(folder_ / "outside") << "linked";
    fs::create_symlink(folder_ / "outside", folder_ / "pack" / "link");
    needs_ = {.read = {folder_ / "pack"}, .update = {}, .control = {}, .change = {folder_ / "job"}};
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  int confined(const std::function<int()>& act) const { return in_child(needs_, act); }
  int opened(const fs::path& path, int flags) const {
    return confined([&] { return open_outcome(path, flags); });
  }

  fs::path folder_;
  Needs needs_;
};

TEST_F(Files, NothingIsMadeOrChangedOutsideTheFoldersOfTheJob) {
  EXPECT_EQ(opened(folder_ / "new", O_WRONLY | O_CREAT), EACCES);
  EXPECT_EQ(opened(folder_ / "pack" / "new", O_WRONLY | O_CREAT), EACCES);
  EXPECT_EQ(opened(folder_ / "pack" / "file", O_WRONLY), EACCES);
  EXPECT_EQ(opened("/tmp", O_TMPFILE | O_RDWR), EACCES);
  EXPECT_EQ(confined([&] { return outcome(::mkdir((folder_ / "new").c_str(), 0700)); }), EACCES);
  EXPECT_EQ(confined([&] { return outcome(::unlink((folder_ / "other" / "file").c_str())); }),
            EACCES);
  EXPECT_THAT(confined([&] {
                return outcome(::rename((folder_ / "job" / "file").c_str(),
                                        (folder_ / "other" / "moved").c_str()));
              }),
              ::testing::AnyOf(EACCES, EXDEV));
  EXPECT_EQ(
      confined([&] { return outcome(::symlink("file", (folder_ / "job" / "link").c_str())); }),
      EACCES);
  EXPECT_TRUE(fs::exists(folder_ / "other" / "file"));
}

TEST_F(Files, TheJobsFolderIsWorkedIn) {
  EXPECT_EQ(confined([&] {
              const fs::path job = folder_ / "job";
              write_file_atomic(job / "checkpoint", std::string_view("a"));
              write_file_atomic(job / "checkpoint", std::string_view("b"));
              make_private_folder(job / "part");
              rename_durable(job / "part", job / "whole");
              fs::remove_all(job / "whole");
              return open_unnamed_file(job) ? 0 : errno;
            }),
            0);
  EXPECT_EQ(read_text(folder_ / "job" / "checkpoint"), "b");
}

TEST_F(Files, WhatIsNotNeededIsNotRead) {
  EXPECT_EQ(opened(folder_ / "other" / "file", O_RDONLY), EACCES);
  EXPECT_EQ(opened("/etc/shadow", O_RDONLY), EACCES);
  EXPECT_EQ(opened("/root", O_RDONLY | O_DIRECTORY), EACCES);
  EXPECT_EQ(opened("/proc/" + std::to_string(::getpid()) + "/mem", O_RDONLY), EACCES);
}

TEST_F(Files, WhatIsNeededIsRead) {
  EXPECT_EQ(opened(folder_ / "pack" / "file", O_RDONLY), 0);
  for (const char* path : {"/proc/self/status", "/proc/cpuinfo", "/proc/meminfo", "/dev/urandom",
                           "/usr/lib", "/sys/devices/system/cpu"}) {
    EXPECT_EQ(opened(path, O_RDONLY), 0) << path;
  }
  EXPECT_EQ(confined([&] {
              reset_peak_memory();
              std::ofstream peak("/proc/self/clear_refs");
              return peak ? 0 : 1;
            }),
            0);
}

TEST_F(Files, LinksOfAPackLeadWhereTheyLead) {
  const Needs needs =
      needs_of_import(daemon::StateLayout(folder_ / "job"), folder_ / "pack", "", "m");
  fs::create_directories(folder_ / "job" / "models");
  EXPECT_EQ(in_child(needs, [&] { return open_outcome(folder_ / "pack" / "link", O_RDONLY); }), 0);
  EXPECT_EQ(in_child(needs, [&] { return open_outcome(folder_ / "other" / "file", O_RDONLY); }),
            EACCES);
}

// /dev/zero by another name: it knows no ioctl, and says so only to who may ask.
TEST_F(Files, DeviceNodesOfTheJobAreControlled) {
  if (landlock_version() < 5) GTEST_SKIP() << "this kernel's Landlock does not know ioctl";
  const fs::path gpu = folder_ / "job" / "gpu", other = folder_ / "job" / "other";
  for (const fs::path& node : {gpu, other})
    if (::mknod(node.c_str(), S_IFCHR | 0600, ::makedev(1, 5)) != 0)
      GTEST_SKIP() << "only root makes device nodes";
  const auto ask = [](const fs::path& node) {
    return [node] {
      const int fd = ::open(node.c_str(), O_RDWR | O_CLOEXEC);
      return fd < 0 ? errno : outcome(::ioctl(fd, 0x6400));
    };
  };
  needs_.control = {gpu};
  EXPECT_EQ(confined(ask(gpu)), ENOTTY);
  EXPECT_EQ(confined(ask(other)), EACCES);
}

TEST_F(Files, LabelsAreReadBesideTheDaemonThatWritesThem) {
  const daemon::StateLayout layout(folder_ / "job");
  fs::create_directories(layout.labels());
  Database daemons(layout.labels() / "labels.db", Database::Access::kReadWrite);
  daemons.run("PRAGMA journal_mode = WAL");
  daemons.run("CREATE TABLE t (x)");
  daemons.run("INSERT INTO t VALUES (7)");
  daemon::JobFile job;
  job.id = 3;
  job.spec.model = "m";
  job.spec.global.pack = (folder_ / "pack").string();
  for (const fs::path& part : {layout.jobs(), layout.models()}) make_private_folder(part);
  EXPECT_EQ(in_child(needs_of_night(layout, job),
                     [&] {
                       const Database own(layout.labels() / "labels.db",
                                          Database::Access::kReadOnly);
                       return own.number("SELECT x FROM t") == 7 ? 0 : 1;
                     }),
            0);
  EXPECT_EQ(in_child(needs_of_night(layout, job),
                     [&] { return open_outcome(layout.labels() / "labels.db", O_WRONLY); }),
            EACCES);
  EXPECT_EQ(in_child(needs_of_night(layout, job),
                     [&] { return open_outcome(layout.root() / "moild.db", O_RDONLY | O_CREAT); }),
            EACCES);
}

TEST_F(Files, ABackupReadsTheStateAndChangesItsCopiesAlone) {
  const daemon::StateLayout layout(folder_ / "job");
  for (const fs::path& part : {layout.labels(), layout.models(), layout.jobs()})
    fs::create_directories(part);
  Database daemons(layout.database(), Database::Access::kReadWrite);
  daemons.run("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (7)");
  const fs::path scratch = layout.backing_up(1);
  const Needs needs = needs_of_backup(layout, scratch);
  const std::string copy = "VACUUM INTO '" + (scratch / "copy.db").string() + "'";
  EXPECT_EQ(in_child(needs,
                     [&] {
                       Database(layout.database(), Database::Access::kReadOnly).run(copy.c_str());
                       return 0;
                     }),
            0);
  EXPECT_EQ(Database(scratch / "copy.db", Database::Access::kReadOnly).number("SELECT x FROM t"),
            7);
  for (const fs::path& file : {layout.database(), layout.models() / "new", layout.labels() / "new"})
    EXPECT_EQ(in_child(needs, [&] { return open_outcome(file, O_WRONLY | O_CREAT); }), EACCES);
  EXPECT_EQ(in_child(needs, [&] { return open_outcome(layout.jobs(), O_RDONLY); }), EACCES);
}

TEST_F(Files, ABackupThatIsReadSeesNothingOfTheState) {
  const daemon::StateLayout layout(folder_ / "job");
  std::ofstream(layout.database()) << "state";
  const Needs needs = needs_of_restore(layout);
  EXPECT_EQ(in_child(needs, [&] { return open_outcome(layout.database(), O_RDONLY); }), EACCES);
  EXPECT_EQ(
      in_child(needs, [&] { return open_outcome(layout.root() / "new", O_WRONLY | O_CREAT); }),
      EACCES);
  EXPECT_EQ(
      in_child(needs, [&] { return open_outcome(layout.restoring() / "new", O_WRONLY | O_CREAT); }),
      0);
}

class SystemCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    MOIL_NEEDS_PLAIN_BUILD("the sanitizers need what is refused");
    const Needs nothing;
    if (in_child(nothing, [] { return outcome(::socket(AF_UNIX, SOCK_STREAM, 0)); }) == 0)
      GTEST_SKIP() << "this kernel has no seccomp";
  }
  static int confined(const std::function<int()>& act) { return in_child({}, act); }
};

TEST_F(SystemCalls, NoProcessIsStarted) {
  EXPECT_EQ(confined([] { return outcome(::fork()); }), EPERM);
  EXPECT_EQ(confined([] {
              char name[] = "true";
              char* arguments[] = {name, nullptr};
              return outcome(::execv("/bin/true", arguments));
            }),
            EPERM);
}

TEST_F(SystemCalls, ThreadsAreStarted) {
  EXPECT_EQ(confined([] {
              int done = 1;
              std::thread([&] { done = 0; }).join();
              return done;
            }),
            0);
}

TEST_F(SystemCalls, ThreadsAreConfinedToo) {
  EXPECT_EQ(confined([] {
              int refused = 0;
              std::thread([&] { refused = outcome(::socket(AF_INET, SOCK_STREAM, 0)); }).join();
              return refused;
            }),
            EPERM);
}

TEST_F(SystemCalls, NobodyIsSpokenTo) {
  EXPECT_EQ(confined([] { return outcome(::socket(AF_UNIX, SOCK_STREAM, 0)); }), EPERM);
  EXPECT_EQ(confined([] {
              int pair[2];
              return outcome(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
            }),
            EPERM);
}

TEST_F(SystemCalls, OtherProcessesAreLeftAlone) {
  EXPECT_EQ(confined([] { return outcome(::kill(::getppid(), 0)); }), EPERM);
  EXPECT_EQ(confined([] { return outcome(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }), EPERM);
  EXPECT_EQ(confined([] { return outcome(::kill(::getpid(), 0)); }), 0);
  EXPECT_EQ(confined([]() -> int { ::abort(); }), -SIGABRT);  // of itself, it may end
}

TEST_F(SystemCalls, CodeThatIsCompiledAtRunTimeRuns) {
  EXPECT_EQ(confined([] {
              void* page =
                  ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return outcome(::mprotect(page, 4096, PROT_READ | PROT_EXEC));
            }),
            0);
}

}  // namespace
}  // namespace moil::worker
