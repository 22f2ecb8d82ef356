#include "datasets/labels/folder_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using Why = FolderWalk::Why;

class FolderWalkTest : public ::testing::Test {
 protected:
  fs::path write(const fs::path& name) const {
    test::write_text(folder_ / name, "x");
    return folder_ / name;
  }
  // "path: why", as found below the folder "root".
  std::vector<std::string> passed_over() const {
    std::vector<std::string> found;
    for (const auto& [path, why, is_folder] : walk_folder(folder_ / "root").passed_over)
      found.push_back(path + (why == Why::kService  ? ": service"
                              : why == Why::kAround ? ": around"
                                                    : ": no file"));
    return found;
  }
  test::TempFolder folder_;
};

TEST_F(FolderWalkTest, FindsFilesByNameAndPassesOverWhatIsNobodysData) {
  for (const char* name : {"root/b/2.jpg", "root/b/1.jpg", "root/a.jpg", "root/c/deep/3.jpg",
                           "root/.hidden", "root/@eaDir/thumb.jpg"})
    write(name);
  EXPECT_THAT(walk_folder(folder_ / "root").files,
              ElementsAre("a.jpg", "b/1.jpg", "b/2.jpg", "c/deep/3.jpg"));
  EXPECT_THAT(passed_over(), ElementsAre(".hidden: service", "@eaDir: service"));
}

TEST_F(FolderWalkTest, FollowsLinksButForThoseThatWouldNotEnd) {
  write("root/cat/1.jpg");
  fs::create_symlink(write("elsewhere/2.jpg"), folder_ / "root/cat/2.jpg");
  write("afar/dogs/3.jpg");
  fs::create_directory_symlink(folder_ / "afar/dogs", folder_ / "root/dog");
  fs::create_symlink(folder_ / "nowhere", folder_ / "root/lost");
  fs::create_directory_symlink(folder_ / "root", folder_ / "root/cat/around");
  fs::create_directory_symlink(folder_.path(), folder_ / "root/cat/up");
  fs::create_directory_symlink("/", folder_ / "root/everything");
  fs::create_directory_symlink(folder_ / "root", folder_ / "afar/dogs/back");
  EXPECT_THAT(walk_folder(folder_ / "root").files,
              ElementsAre("cat/1.jpg", "cat/2.jpg", "dog/3.jpg"));
  EXPECT_THAT(passed_over(), ElementsAre("cat/around: around", "cat/up: around", "dog/back: around",
                                         "everything: around", "lost: no file"));
}

TEST_F(FolderWalkTest, AFolderThatIsALinkItselfIsWalked) {
  write("afar/1.jpg");
  fs::create_directory_symlink(folder_ / "afar", folder_ / "root");
  EXPECT_THAT(walk_folder(folder_ / "root").files, ElementsAre("1.jpg"));
}

TEST_F(FolderWalkTest, AFolderThatCannotBeReadIsNamed) {
  test::expect_error(ErrorCode::kNotFound, {"absent"},
                     [&] { (void)walk_folder(folder_ / "absent"); });
}

}  // namespace
}  // namespace moil::data
