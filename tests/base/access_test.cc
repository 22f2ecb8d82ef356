// Why something cannot be read, told so that it can be cured; and what is written for others.
#include "base/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "base/files/file.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace fs = std::filesystem;

namespace moil {
namespace {

using ::testing::HasSubstr;

class Access : public ::testing::Test {
 protected:
  Access() {
    fs::permissions(folder_.path(), fs::perms(0755));
    fs::create_directories(folder_ / "home/photos");
    std::ofstream(folder_ / "home/photos/model.json") << "{}";
  }
  ~Access() override { fs::permissions(folder_ / "home", fs::perms(0700)); }

  // What the call throws as a user who is neither root nor the owner, if we may become one.
  static std::string as_a_stranger(const std::function<void()>& call) {
    int pipe[2];
    if (::pipe(pipe) != 0) return "no pipe";
    const pid_t child = ::fork();
    if (child == 0) {
      std::string text = "nothing";
      try {
        if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
        call();
      } catch (const std::exception& error) {
        text = error.what();
      }
      [[maybe_unused]] const ssize_t n = ::write(pipe[1], text.data(), text.size());
      ::_exit(0);
    }
    ::close(pipe[1]);
    char text[4096];
    const ssize_t n = ::read(pipe[0], text, sizeof text);
    ::close(pipe[0]);
    ::waitpid(child, nullptr, 0);
    return {text, n > 0 ? static_cast<std::size_t>(n) : 0};
  }

  test::ScratchFolder folder_;
};

TEST_F(Access, TheFolderThatStopsWhomIsNamed) {
  fs::permissions(folder_ / "home", ::geteuid() == 0 ? fs::perms(0700) : fs::perms(0));
  for (const char* name : {"home/photos", "home/photos/model.json"}) {
    const std::string text = as_a_stranger([&] { require_readable(folder_ / name); });
    EXPECT_THAT(text, HasSubstr("cannot read " + (folder_ / name).string()));
    EXPECT_THAT(text, HasSubstr("which may not enter the folder " + (folder_ / "home").string() +
                                " (mode 0"));
  }
  EXPECT_THAT(as_a_stranger([&] { (void)read_text(folder_ / "home/photos/model.json"); }),
              HasSubstr("may not enter the folder"));
}

TEST_F(Access, AFileThatIsItsOwnersAloneIsNamed) {
  const fs::path file = folder_ / "home/photos/model.json";
  fs::permissions(file, ::geteuid() == 0 ? fs::perms(0600) : fs::perms(0));
  const std::string text = as_a_stranger([&] { require_readable(file); });
  EXPECT_THAT(text, HasSubstr("which may not read the file " + file.string()));
}

TEST_F(Access, WhatIsNotThereIsNotFound) {
  test::expect_error(ErrorCode::kNotFound, "there is no file or folder",
                     [&] { require_readable(folder_ / "home/nothing"); });
  require_readable(folder_ / "home/photos");
}

TEST_F(Access, WhatIsPublishedHasTheModesThatTheUmaskSays) {
  const mode_t before = ::umask(027);
  write_file_atomic(folder_ / "home/photos/labels.json", std::string_view("[]"));
  fs::permissions(folder_ / "home/photos", fs::perms(0700));
  publish(folder_ / "home/photos");
  ::umask(before);
  EXPECT_EQ(fs::status(folder_ / "home/photos").permissions(), fs::perms(0750));
  EXPECT_EQ(fs::status(folder_ / "home/photos/labels.json").permissions(), fs::perms(0640));
}

TEST_F(Access, OfAFolderWhoseContentIsPublishedTheModeStays) {
  fs::permissions(folder_ / "home", fs::perms(0711));
  fs::permissions(folder_ / "home/photos", fs::perms(0700));
  const mode_t before = ::umask(022);
  publish_content(folder_ / "home");
  ::umask(before);
  EXPECT_EQ(fs::status(folder_ / "home").permissions(), fs::perms(0711));
  EXPECT_EQ(fs::status(folder_ / "home/photos").permissions(), fs::perms(0755));
}

}  // namespace
}  // namespace moil
