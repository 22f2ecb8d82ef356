#include "daemon/ctl/setup/folder_content.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/scratch_folder.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr const char* kJpeg = "\xff\xd8\xff\xe0 photo";
constexpr const char* kOgg = "OggS sound";

class Folder : public ::testing::Test {
 protected:
  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  const moil::test::ScratchFolder folder_;
};

TEST_F(Folder, IsTheKindOfMostOfItsSamples) {
  EXPECT_EQ(look_into(folder_.path()).kind(), "");
  write("cat/1.jpg", kJpeg);
  write("cat/deep/2.jpg", kJpeg);
  write("dog/1.jpg", kJpeg);
  write("dog/bark.ogg", kOgg);
  write("beside.jpg", kJpeg);
  write("dog/notes.txt", "about dogs");
  const FolderContent content = look_into(folder_.path());
  EXPECT_EQ(content.kind(), "image");
  EXPECT_EQ(content.images, 4U);
  EXPECT_EQ(content.sounds, 1U);
  EXPECT_EQ(content.others, 1U);
  EXPECT_EQ(content.unlabelled, 1U);
  EXPECT_EQ(content.in_words(),
            "4 photos and 1 sound in 2 folders (cat, dog), 1 of them beside these");
}

TEST_F(Folder, OfSoundsIsOne) {
  write("rain/1.ogg", kOgg);
  EXPECT_EQ(look_into(folder_.path()).kind(), "sound");
  EXPECT_EQ(look_into(folder_.path()).in_words(), "1 sound in 1 folder (rain)");
}

}  // namespace
}  // namespace moil::daemon::ctl
