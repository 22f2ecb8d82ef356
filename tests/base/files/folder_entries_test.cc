#include "base/files/folder_entries.h"

#include <gmock/gmock.h>

#include "base/files/file.h"

namespace moil {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(FolderEntries, AreFilesAndFoldersOfThisFolderAlone) {
  const fs::path folder = fs::path(::testing::TempDir()) / "moil-folder-entries";
  fs::remove_all(folder);
  fs::create_directories(folder / "inner");
  write_file_atomic(folder / "file", std::string_view("x"));
  write_file_atomic(folder / "inner/other", std::string_view("x"));
  EXPECT_THAT(entries_of(folder), UnorderedElementsAre(folder / "file", folder / "inner"));
  fs::remove_all(folder);
}

TEST(FolderEntries, OfWhatIsNoFolderAreNone) {
  EXPECT_THAT(entries_of("/no/such/folder"), IsEmpty());
  EXPECT_THAT(entries_of("/dev/null"), IsEmpty());
}

}  // namespace
}  // namespace moil
