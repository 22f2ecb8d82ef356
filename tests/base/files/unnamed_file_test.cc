#include "base/files/unnamed_file.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

TEST(UnnamedFile, KeepsWhatIsWrittenAndHasNoName) {
  const test::ScratchFolder folder;
  const UniqueFd file = open_unnamed_file(folder.path());
  ASSERT_TRUE(file);
  EXPECT_TRUE(folder.files().empty());
  const std::array<int, 3> written{1, 2, 3};
  std::array<int, 2> read{};
  write_at(file, 8, std::as_bytes(std::span(written)), "write");
  read_at(file, 12, std::as_writable_bytes(std::span(read)), "read");
  EXPECT_EQ(read, (std::array<int, 2>{2, 3}));
  EXPECT_THROW(read_at(file, 16, std::as_writable_bytes(std::span(read)), "read"), Error);
}

TEST(UnnamedFile, IsNoneInAFolderThatIsNotThere) {
  EXPECT_FALSE(open_unnamed_file("/no/such/folder"));
}

}  // namespace
}  // namespace moil
