#include "daemon/ctl/inbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

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
  // "cat: cat/a.jpg", or empty where nothing came.
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

TEST_F(InboxTest, WithoutItsFolderItEnds) {
  Inbox inbox(root_);
  fs::remove_all(root_);
  EXPECT_THROW((void)inbox.next(milliseconds(2000)), Error);
  EXPECT_THROW(Inbox{root_}, Error);
}

}  // namespace
}  // namespace moil::daemon::ctl
