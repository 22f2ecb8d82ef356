#include "datasets/readers/class_folders.h"

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;

std::vector<std::string> classes_of(const std::vector<std::string>& paths,
                                    const std::vector<std::string>& known = {}) {
  PassedOver passed_over;
  std::vector<std::string> names;
  for (const auto& sample : sort_into_classes(paths, "root", known, passed_over).samples)
    names.push_back(sample.name);
  return names;
}

TEST(ClassFolders, WhatLeavesTheRootIsRefusedByName) {
  for (const char* path : {"../c0/0.png", "c0/../../1.png", "./c0/0.png", "c0/./0.png", "/c0/0.png",
                           "c0//0.png", "..", "../x.txt", "c0/.."}) {
    expect_error(ErrorCode::kBadData, {"root", path}, [&] {
      (void)classes_of({"cat/0.png", path});
    });
  }
}

TEST(ClassFolders, HiddenAndServiceFoldersAreNoClasses) {
  PassedOver passed_over;
  const auto found = sort_into_classes(
      {".ipynb_checkpoints/0.png", "@eaDir/cat/1.jpg", "__MACOSX/cat/._2.jpg", "cat/.thumbs/3.jpg",
       "cat/4.jpg", "dog/5.jpg", "dog/._5.jpg", "$RECYCLE.BIN/6.jpg", "lost+found/7.jpg"},
      "root", {}, passed_over);
  ASSERT_EQ(found.samples.size(), 2U);
  EXPECT_EQ(found.samples[0].name, "cat");
  EXPECT_EQ(found.samples[1].name, "dog");
  EXPECT_EQ(passed_over.others, 1U);
  EXPECT_THAT(passed_over.services, ElementsAre("$RECYCLE.BIN", ".ipynb_checkpoints", "@eaDir",
                                                "__MACOSX", "cat/.thumbs", "lost+found"));
  EXPECT_EQ(passed_over.said(),
            "1 file that is no sample in a class's folder, 6 hidden and service folders "
            "($RECYCLE.BIN, .ipynb_checkpoints, @eaDir, __MACOSX, ...)");
  EXPECT_EQ(PassedOver().said(), "");
}

TEST(ClassFolders, TextIsASampleBesideNothingElse) {
  EXPECT_THAT(classes_of({"a/0.txt", "b/1.TXT", "b/2.md"}), ElementsAre("a", "b"));
  for (const char* other : {"c/0.png", "c/0.wav", "c/0.csv"})
    EXPECT_THAT(classes_of({"a/0.txt", other}), ElementsAre("c"));
  PassedOver passed_over;
  const auto any = sort_into_classes({"a/0.png", "a/1", "b/2.md", "b/.git/x", "3.txt"}, "root", {},
                                     passed_over, true);
  EXPECT_EQ(any.samples.size(), 3U);
}

TEST(ClassFolders, TheFirstFolderIsTheClassWhateverLiesInIt) {
  EXPECT_THAT(classes_of({"cat/0.png", "cat/1.png"}), ElementsAre("cat", "cat"));
  EXPECT_THAT(classes_of({"frog/site1/0.png", "frog/site2/1.png"}), ElementsAre("frog", "frog"));
  EXPECT_THAT(classes_of({"cat/2023/0.png", "cat/1.png"}), ElementsAre("cat", "cat"));
  EXPECT_THAT(classes_of({"cat/2023/0.png", "dog/a/b/1.png"}), ElementsAre("cat", "dog"));
  PassedOver passed_over;
  const auto lone = sort_into_classes({"frog/site1/0.png", "frog/site2/a/1.png", "frog/2.png"},
                                      "root", {}, passed_over);
  EXPECT_THAT(lone.within, ElementsAre("site1", "site2"));
  const auto two = sort_into_classes({"frog/site1/0.png", "toad/1.png"}, "root", {}, passed_over);
  EXPECT_TRUE(two.within.empty());
}

TEST(ClassFolders, AFolderAroundKnownClassesIsEntered) {
  EXPECT_THAT(classes_of({"photos/cat/0.png", "photos/dog/1.png"}, {"dog", "bird"}),
              ElementsAre("cat", "dog"));
  EXPECT_THAT(classes_of({"data/train/cat/0.png", "data/train/dog/1.png", "data/a.txt"}, {"cat"}),
              ElementsAre("cat", "dog"));
  EXPECT_THAT(classes_of({"photos/cat/0.png", "photos/1.png"}, {"cat"}),
              ElementsAre("photos", "photos"));
  EXPECT_THAT(classes_of({"cat/cat/0.png", "cat/2024/1.png"}, {"cat"}), ElementsAre("cat", "cat"));
}

TEST(ClassFolders, SoundsAreSamplesWhereThereAreNoPhotos) {
  EXPECT_THAT(
      classes_of({"dog/1.OGG", "knock/2.wav", "rain/3.flac", "rain/4.mp3", "meta/esc50.csv"}),
      ElementsAre("dog", "knock", "rain", "rain"));
  EXPECT_THAT(classes_of({"dog/1.jpg", "dog/bark.wav", "cat/2.png"}), ElementsAre("cat", "dog"));
  EXPECT_THAT(classes_of({"ok/1.csv", "worn/2.csv"}), ElementsAre("ok", "worn"));
}

TEST(ClassFolders, NamesThatCannotBeAFolder) {
  for (const char* name : {"", ".", "..", ".hidden", "a/b"}) EXPECT_FALSE(can_name_folder(name));
  for (const char* name : {"cat", "our cat", "süß, sour", "a..b"})
    EXPECT_TRUE(can_name_folder(name));
}

}  // namespace
}  // namespace moil::data
