#include "daemon/ctl/labels/inbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/error.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

using std::chrono::milliseconds;

class InboxTest : public ::testing::Test {
 protected:
  InboxTest() { fs::create_directories(root_); }
  ~InboxTest() override { fs::remove_all(folder_); }
  static fs::path new_folder() {
    std::string name = ::testing::TempDir() + "/moil-inbox-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw system_error("mkdtemp", errno);
    return name;
  }
  void write(const std::string& name) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << name;
  }
  // "cat: cat/a.jpg", or empty if nothing came.
  std::string next(Inbox& inbox, int wait = 0) const {
    const auto arrival = inbox.next(milliseconds(wait));
    if (!arrival) return "";
    return arrival->label + ": " + arrival->file.lexically_relative(root_).string();
  }

  const fs::path folder_ = new_folder();
  const fs::path root_ = folder_ / "inbox";
};

TEST_F(InboxTest, WhatLiesThereIsTakenInOrder) {
  for (const char* name : {"b.jpg", "cat/x.jpg", "cat/deep/y.jpg", ".hidden/z.jpg", "Thumbs.db"})
    write(name);
  fs::create_symlink(root_ / "b.jpg", root_ / "link.jpg");
  Inbox inbox(root_);
  EXPECT_EQ(next(inbox), ": b.jpg");
  EXPECT_EQ(next(inbox), "cat: cat/deep/y.jpg");
  EXPECT_EQ(next(inbox), "cat: cat/x.jpg");
  EXPECT_EQ(next(inbox), "");
}

TEST_F(InboxTest, AFileIsTakenWhenItsWriterHasClosedIt) {
  UniqueFd before(::open((root_ / "a.jpg").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  Inbox inbox(root_);
  UniqueFd during(::open((root_ / "b.jpg").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(during.get(), "x", 1), 1);
  EXPECT_EQ(next(inbox), "") << "both are being written";
  during.reset();
  EXPECT_EQ(next(inbox, 2000), ": b.jpg");
  before.reset();
  EXPECT_EQ(next(inbox, 2000), ": a.jpg");
}

TEST_F(InboxTest, FoldersComeGoAndComeAgain) {
  Inbox inbox(root_);
  for (int i = 0; i < 3; ++i) {
    write("dog/1.jpg");
    EXPECT_EQ(next(inbox, 2000), "dog: dog/1.jpg");
    EXPECT_EQ(next(inbox), "");
    fs::remove_all(root_ / "dog");
  }
  fs::create_directories(folder_ / "outside/deep");
  std::ofstream(folder_ / "outside/deep/c.jpg") << "c";
  fs::rename(folder_ / "outside", root_ / "bird");
  EXPECT_EQ(next(inbox, 2000), "bird: bird/deep/c.jpg");
  fs::rename(root_ / "bird/deep/c.jpg", root_ / "c.jpg");
  EXPECT_EQ(next(inbox, 2000), ": c.jpg");
}

// What the content of the next file is; empty if nothing came.
std::string content_of(const std::optional<Inbox::Arrival>& arrival) {
  if (!arrival) return "";
  char text[256] = {};
  const ssize_t n = ::pread(arrival->content.get(), text, sizeof text, 0);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
}

// A link that takes the place of a file, or of a folder on the way, between any two looks.
TEST_F(InboxTest, NoLinkLeadsOutOfTheFolderWheneverItIsPutInPlace) {
  constexpr int kSwaps = 200;
  const fs::path outside = folder_ / "private";
  for (const char* name : {"a.jpg", "cat/a.jpg"}) {
    fs::create_directories((outside / name).parent_path());
    std::ofstream(outside / name) << "secret";
  }
  Inbox inbox(root_);
  std::atomic<bool> ended = false;
  std::jthread swapper([&] {
    for (int i = 0; i < kSwaps; ++i) {
      std::error_code ignored;
      fs::create_directory(folder_ / "real", ignored);
      std::ofstream(folder_ / "real/a.jpg") << "mine";
      std::ofstream(root_ / "new") << "mine";
      fs::rename(folder_ / "real", root_ / "cat", ignored);
      fs::rename(root_ / "new", root_ / "a.jpg", ignored);
      fs::create_symlink(outside / "a.jpg", root_ / "link", ignored);
      fs::rename(root_ / "link", root_ / "a.jpg", ignored);
      fs::rename(root_ / "cat", folder_ / ("gone" + std::to_string(i)), ignored);
      fs::create_directory_symlink(outside / "cat", root_ / "cat", ignored);
      fs::remove(root_ / "cat", ignored);
      fs::remove(root_ / "a.jpg", ignored);
    }
    ended = true;
  });
  int mine = 0, secrets = 0;
  while (!ended) {
    const std::string content = content_of(inbox.next(milliseconds(1)));
    mine += content == "mine" ? 1 : 0;
    secrets += content == "secret" ? 1 : 0;
  }
  EXPECT_EQ(secrets, 0);
  EXPECT_GT(mine, 0) << "the swaps left nothing to be taken";
}

TEST_F(InboxTest, BeyondTheKernelsLimitFoldersAreLookedThroughAndTheLimitIsNamed) {
  write("cat/a.jpg");
  Inbox inbox(root_, 1);
  EXPECT_NE(inbox.complaint().find("fs.inotify.max_user_watches"), std::string::npos);
  EXPECT_EQ(inbox.complaint(), "") << "it is said once";
  EXPECT_EQ(next(inbox), "cat: cat/a.jpg");
  write("cat/b.jpg");
  write("cat/deep/c.jpg");
  EXPECT_EQ(next(inbox, 7000), "cat: cat/b.jpg");
  EXPECT_EQ(next(inbox, 7000), "cat: cat/deep/c.jpg");
  EXPECT_EQ(next(inbox, 6000), "") << "each is told once";
}

TEST_F(InboxTest, AFileThatIsPutOffComesAgainIfItIsStillThere) {
  write("a.jpg");
  write("b.jpg");
  Inbox inbox(root_);
  EXPECT_EQ(next(inbox), ": a.jpg");
  EXPECT_EQ(next(inbox), ": b.jpg");
  inbox.put_off(root_ / "a.jpg", milliseconds(100));
  inbox.put_off(root_ / "b.jpg", milliseconds(50));
  EXPECT_EQ(next(inbox), "");
  fs::remove(root_ / "b.jpg");
  EXPECT_EQ(next(inbox, 2000), ": a.jpg");
  EXPECT_EQ(next(inbox, 200), "");
}

TEST_F(InboxTest, WithoutItsFolderItEnds) {
  Inbox inbox(root_);
  fs::remove_all(root_);
  EXPECT_THROW((void)inbox.next(milliseconds(2000)), Error);
  EXPECT_THROW(Inbox{root_}, Error);
}

}  // namespace
}  // namespace moil::daemon::ctl
