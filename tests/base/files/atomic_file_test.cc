#include "base/files/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

std::span<const std::uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class AtomicFileTest : public ::testing::Test {
 protected:
  std::size_t files() const { return folder_.files().size(); }

  test::ScratchFolder folder_;
};

TEST_F(AtomicFileTest, TakesItsPlaceOnCommit) {
  write_file_atomic(folder_ / "f", "old");
  AtomicFile file(folder_ / "f");
  file.write(bytes("new "));
  file.write({});
  file.write(bytes("content"));
  EXPECT_EQ(read_text(folder_ / "f"), "old");
  file.commit();
  EXPECT_EQ(read_text(folder_ / "f"), "new content");
  EXPECT_EQ(files(), 1u);
  struct stat info {};
  ASSERT_EQ(::stat((folder_ / "f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(AtomicFileTest, LeavesNothingWithoutCommit) {
  { AtomicFile(folder_ / "f").write(bytes("half")); }
  EXPECT_EQ(files(), 0u);
}

TEST_F(AtomicFileTest, WhatHasNoNameYetIsGoneWithAKilledWriter) {
  if (!UniqueFd(::open(folder_.path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC)))
    GTEST_SKIP() << "this file system has no files without a name";
  write_file_atomic(folder_ / "f", "old");
  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    AtomicFile file(folder_ / "f", AtomicFile::Aside::kUnnamed);
    file.write(bytes("half"));
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(read_text(folder_ / "f"), "old");
}

TEST_F(AtomicFileTest, WithoutANameItTakesItsPlaceAsWell) {
  for (const char* content : {"one", "another"}) {
    AtomicFile file(folder_ / "f", AtomicFile::Aside::kUnnamed);
    file.write(bytes(content));
    file.commit();
    EXPECT_EQ(read_text(folder_ / "f"), content);
    EXPECT_EQ(files(), 1U);
  }
  { AtomicFile(folder_ / "f", AtomicFile::Aside::kUnnamed).write(bytes("half")); }
  EXPECT_EQ(read_text(folder_ / "f"), "another");
  EXPECT_EQ(files(), 1U);
  test::expect_error(ErrorCode::kNotFound, "missing", [&] {
    const AtomicFile file(folder_ / "missing/f", AtomicFile::Aside::kUnnamed);
  });
}

TEST_F(AtomicFileTest, WhatKilledWritersLeftIsRemoved) {
  write_file_atomic(folder_ / "f", "content");
  write_file_atomic(folder_ / "f.tmp.17.0", "half");
  write_file_atomic(folder_ / "f.tmp.18", "half");
  write_file_atomic(folder_ / "other.tmp.17.0", "another's");
  remove_unfinished(folder_ / "f");
  EXPECT_EQ(read_text(folder_ / "f"), "content");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "other.tmp.17.0"));
  EXPECT_EQ(files(), 2u);
  EXPECT_THROW(remove_unfinished(folder_ / "missing" / "f"), Error);
}

TEST_F(AtomicFileTest, TwoWritersOfOneFileDoNotMix) {
  AtomicFile first(folder_ / "f"), second(folder_ / "f");
  first.write(bytes("first"));
  second.write(bytes("second, longer"));
  second.commit();
  first.commit();
  EXPECT_EQ(read_text(folder_ / "f"), "first");
}

// One name for all writers of a process would let one truncate, fill or rename what another writes.
TEST_F(AtomicFileTest, ThreadsThatReplaceOneFileEachLeaveAWholeOne) {
  constexpr int kThreads = 4, kTimes = 100;
  std::vector<std::jthread> threads;
  std::atomic<int> failures = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string mine(std::size_t{1000} << thread, static_cast<char>('a' + thread));
      for (int i = 0; i < kTimes; ++i) {
        try {
          write_file_atomic(folder_ / "f", mine);
          const std::string found = read_text(folder_ / "f");
          const bool is_whole =
              found == std::string(std::size_t{1000} << (found[0] - 'a'), found[0]);
          failures += is_whole ? 0 : 1;
        } catch (const Error&) {
          ++failures;
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, NamesTheFileItCannotWrite) {
  test::expect_error(ErrorCode::kNotFound, "missing",
                     [&] { AtomicFile file(folder_ / "missing" / "f"); });
  std::filesystem::create_directory(folder_ / "taken");
  AtomicFile file(folder_ / "taken");
  file.write(bytes("x"));
  EXPECT_THROW(file.commit(), Error);
}

}  // namespace
}  // namespace moil
