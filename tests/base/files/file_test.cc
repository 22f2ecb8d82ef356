#include "base/files/file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

namespace fs = std::filesystem;

class OpenRegularTest : public ::testing::Test {
 protected:
  // What is not a regular file is refused by its name; a test that waits for it never ends.
  static void expect_refused(const fs::path& path) {
    const std::string said = test::error_of([&] { (void)read_text(path); }, ErrorCode::kIo);
    EXPECT_NE(said.find(path.string()), std::string::npos) << said;
    EXPECT_NE(said.find("not a regular file"), std::string::npos) << said;
  }

  test::ScratchFolder folder_;
};

TEST_F(OpenRegularTest, PipesSocketsDevicesAndFoldersAreRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_refused(folder_ / "pipe");
  expect_refused(folder_.path());
  expect_refused("/dev/zero");
  fs::create_symlink(folder_ / "pipe", folder_ / "link");
  expect_refused(folder_ / "link");
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = (folder_ / "socket").string();
  std::strncpy(address.sun_path, name.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  expect_refused(name);
}

TEST_F(OpenRegularTest, FilesAndLinksToThemAreRead) {
  write_file_atomic(folder_ / "f", "text");
  fs::create_symlink(folder_ / "f", folder_ / "link");
  EXPECT_EQ(read_text(folder_ / "f"), "text");
  EXPECT_EQ(read_text(folder_ / "link"), "text");
}

// What a user names on a command line may be a pipe, as a shell's substitution is.
TEST_F(OpenRegularTest, PipesThatAreAskedForAreRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  const std::string name = "/proc/self/fd/" + std::to_string(ends[0]);
  EXPECT_EQ(read_text(name, 100, Named::kFileOrPipe), "text");
  ::close(ends[0]);
}

}  // namespace
}  // namespace moil
