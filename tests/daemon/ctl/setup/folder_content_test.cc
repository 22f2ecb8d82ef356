#include "daemon/ctl/setup/folder_content.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/errors.h"
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
  write("cat/1.jpg", kJpeg);
  write("cat/deep/2.jpg", kJpeg);
  write("dog/1.jpg", kJpeg);
  write("dog/bark.ogg", kOgg);
  write("beside.jpg", kJpeg);
  write("dog/notes.txt", "about dogs");
  const FolderContent content = look_into(folder_.path(), "");
  EXPECT_EQ(content.kind(), "image");
  EXPECT_EQ(content.images, 4U);
  EXPECT_EQ(content.sounds, 1U);
  EXPECT_EQ(content.others, 1U);
  EXPECT_EQ(content.unlabelled, 1U);
  EXPECT_EQ(content.in_words(),
            "4 photos and 1 sound in 2 folders (cat, dog), 1 of them beside these");
}

TEST_F(Folder, ThatIsAbsentOrHoldsNoSampleIsRefused) {
  write("in/notes.txt", "about dogs");
  const auto refused = [&](const char* name, const char* said) {
    moil::test::expect_error(ErrorCode::kNotFound, said,
                             [&] { (void)look_into(folder_ / name, "give another"); });
  };
  refused("absent", "absent: there is no such folder");
  refused("in", "in: it holds no photo, sound or file of numbers; give another");
}

TEST_F(Folder, OfSoundsIsOne) {
  write("rain/1.ogg", kOgg);
  EXPECT_EQ(look_into(folder_.path(), "").kind(), "sound");
  EXPECT_EQ(look_into(folder_.path(), "").in_words(), "1 sound in 1 folder (rain)");
}

TEST_F(Folder, ATableIsSaidByItsLastColumnOrTheOneThatIsNamed) {
  write("t.csv", "size,state,class\n1,on,b\n2,off,a\n\n3,on,a\n");
  const FolderContent content = look_into_table(folder_ / "t.csv", "");
  EXPECT_TRUE(content.is_table());
  EXPECT_TRUE(content.is_labelled());
  EXPECT_EQ(content.kind(), "rows");
  EXPECT_EQ(content.in_words(), "a table of 3 records; the column \"class\" says what they are");
  EXPECT_EQ(look_into_table(folder_ / "t.csv", "size").label_column, "size");
}

TEST_F(Folder, WhatIsNoTableIsSaid) {
  const auto refusal = [&](const std::string& text, const std::string& column) -> std::string {
    write("t.csv", text);
    try {
      return look_into_table(folder_ / "t.csv", column).label_column;
    } catch (const Error& error) {
      return error.what();
    }
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal("a,b\n1,2\n", "weight"), HasSubstr("its columns are a, b"));
  for (const char* text : {"", "a,b\n", "a\n1\n", "\n\n"})
    EXPECT_THAT(refusal(text, ""), HasSubstr("a record a line"));
  EXPECT_THROW((void)look_into_table(folder_ / "absent.csv", ""), Error);
}

}  // namespace
}  // namespace moil::daemon::ctl
