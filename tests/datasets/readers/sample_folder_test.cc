#include "datasets/readers/sample_folder.h"

#include "base/files/file.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;
using test::pattern;
using test::TarEntry;
using ::testing::ElementsAre;

std::vector<TarEntry> photos() {
  return {{"dog/2.png", encode_png(pattern(6, 5, 3))},
          {"cat/deep/1.PNG", encode_png(pattern(4, 4, 1))},
          {"cat/0.jpeg", encode_jpeg(pattern(8, 8, 3), 90)},
          {"cat/.hidden.png", bytes_of("?")},
          {"cat/notes.txt", bytes_of("?")},
          {"top.png", bytes_of("?")},
          {"ant/3.jpg", bytes_of("no image")}};
}

class SampleFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, bytes] : photos()) test::write_bytes(folder_ / ("f/" + name), bytes);
    test::write_tar(folder_ / "f.tar", photos());
  }
  std::vector<std::filesystem::path> both() const { return {folder_ / "f", folder_ / "f.tar"}; }
  test::TempFolder folder_;
};

TEST_F(SampleFolderTest, AFolderAndItsTarAreTheSameDataset) {
  for (const auto& path : both()) {
    const auto dataset = open_sample_folder(path);
    EXPECT_THAT(dataset->classes(), ElementsAre("ant", "cat", "dog")) << path;
    ASSERT_EQ(dataset->size(), 4u);
    EXPECT_EQ(dataset->passed_over().others, 3u);
    EXPECT_THAT(single_labels(*dataset), ElementsAre(0, 1, 1, 2));
    EXPECT_EQ(test::image_of(*dataset, 2), pattern(4, 4, 1));
    EXPECT_EQ(test::image_of(*dataset, 3), pattern(6, 5, 3));
    EXPECT_EQ(dataset->digest(3), digest_of(photos()[0].bytes));
    EXPECT_EQ(dataset->encoded(3), photos()[0].bytes);
    EXPECT_EQ(dataset->split(0), Split::kTrain);
  }
}

TEST_F(SampleFolderTest, ABadImageIsNamed) {
  for (const auto& path : both()) {
    const auto dataset = open_sample_folder(path);
    expect_error(ErrorCode::kBadData, {path.string(), "ant/3.jpg"},
                 [&] { (void)test::image_of(*dataset, 0); });
  }
}

TEST_F(SampleFolderTest, AGivenClassListSetsTheIndices) {
  SampleFolderOptions options;
  options.classes = {"dog", "cat", "ant", "bee"};
  for (const auto& path : both()) {
    EXPECT_THAT(single_labels(*open_sample_folder(path, options)), ElementsAre(2, 1, 1, 0));
  }
  options.classes = {"dog", "cat"};
  expect_error(ErrorCode::kBadData, {"ant/3.jpg", "class"},
               [&] { (void)open_sample_folder(folder_ / "f", options); });
}

TEST_F(SampleFolderTest, SplitsFollowThePolicy) {
  SampleFolderOptions options;
  options.split.validation_fraction = 1;
  EXPECT_EQ(samples_of(*open_sample_folder(folder_ / "f.tar", options), Split::kValidation).size(),
            4u);
  options.split.validation_fraction = 0.5;
  EXPECT_EQ(samples_of(*open_sample_folder(folder_ / "f.tar", options), Split::kValidation).size(),
            3u)
      << "one of cat's two, and round(0.5) of the single ant and dog";
}

TEST_F(SampleFolderTest, WithoutImagesItIsAnError) {
  test::write_text(folder_ / "empty/readme.txt", "nothing here");
  expect_error(ErrorCode::kBadData, {"empty", "no sample"},
               [&] { (void)open_sample_folder(folder_ / "empty"); });
  expect_error(ErrorCode::kNotFound, {"nowhere"},
               [&] { (void)open_sample_folder(folder_ / "nowhere"); });
  const auto dataset = open_sample_folder(folder_ / "f");
  expect_error(ErrorCode::kInvalidArgument, {"no sample 4"}, [&] { (void)dataset->labels(4); });
}

TEST_F(SampleFolderTest, LinkedPhotosAreOfTheFolderThatTheyLieIn) {
  const auto root = folder_ / "linked";
  const Image photo = pattern(5, 5, 3);
  test::write_bytes(folder_ / "elsewhere/wolf/0.png", encode_png(photo));
  test::write_bytes(folder_ / "elsewhere/fox/1.png", encode_png(photo));
  std::filesystem::create_directories(root / "dog");
  std::filesystem::create_symlink(folder_ / "elsewhere/wolf/0.png", root / "dog/0.png");
  std::filesystem::create_symlink(folder_ / "nowhere.png", root / "dog/lost.png");
  std::filesystem::create_directory_symlink(folder_ / "elsewhere/fox", root / "red fox");
  const auto dataset = open_sample_folder(root);
  EXPECT_THAT(dataset->classes(), ElementsAre("dog", "red fox"));
  EXPECT_THAT(single_labels(*dataset), ElementsAre(0, 1));
  EXPECT_EQ(test::image_of(*dataset, 0), photo);
  EXPECT_EQ(test::image_of(*dataset, 1), photo);
  EXPECT_EQ(dataset->passed_over().links, 1u);
}

TEST_F(SampleFolderTest, ALinkToAFolderThatHoldsItIsPassedOver) {
  const std::size_t samples = open_sample_folder(folder_ / "f")->size();
  std::filesystem::create_directory_symlink(folder_ / "f", folder_ / "f/cat/again");
  std::filesystem::create_directory_symlink("/", folder_ / "f/cat/everything");
  const auto dataset = open_sample_folder(folder_ / "f");
  EXPECT_EQ(dataset->size(), samples);
  EXPECT_EQ(dataset->passed_over().links, 2U);
}

TEST_F(SampleFolderTest, MembersThatLeaveTheArchiveAreRefused) {
  for (const char* name : {"../c0/0.png", "c0/../../0.png", "/c0/0.png"}) {
    auto entries = photos();
    entries.push_back({name, encode_png(pattern(4, 4, 1))});
    test::write_tar(folder_ / "out.tar", entries);
    expect_error(ErrorCode::kBadData, {"out.tar", name},
                 [&] { (void)open_sample_folder(folder_ / "out.tar"); });
  }
}

TEST_F(SampleFolderTest, AFolderAroundKnownClassesIsEntered) {
  std::vector<TarEntry> entries;
  for (auto& [name, bytes] : photos()) entries.push_back({"photos/" + name, bytes});
  entries.push_back({"photos/names.tsv", bytes_of("cat\tdomestic cat\n")});
  test::write_tar(folder_ / "around.tar", entries);
  for (const auto& [name, bytes] : entries) test::write_bytes(folder_ / ("around/" + name), bytes);
  // A photo beside the classes would make the folder around them one.
  std::erase_if(entries, [](const TarEntry& e) { return e.name == "photos/top.png"; });
  test::write_tar(folder_ / "around.tar", entries);
  std::filesystem::remove(folder_ / "around/photos/top.png");
  for (const auto& path : {folder_ / "around", folder_ / "around.tar"}) {
    EXPECT_THAT(open_sample_folder(path)->classes(), ElementsAre("photos")) << path;
    EXPECT_THAT(open_sample_folder(path)->within_lone_class(), ElementsAre("ant", "cat", "dog"));
    SampleFolderOptions options;
    options.known = {"cat"};
    const auto dataset = open_sample_folder(path, options);
    EXPECT_THAT(dataset->classes(), ElementsAre("ant", "cat", "dog")) << path;
    EXPECT_EQ(dataset->entered(), "photos");
    EXPECT_THAT(dataset->texts(), ElementsAre("cat\tdomestic cat\n"));
  }
}

// Every photo that the developers have: none of them counts as damaged.
TEST(SharedData, NoPhotoIsTakenForDamaged) {
  for (const char* name : {"imagenette-val.tar", "grocery61-val.tar"}) {
    const auto path = test::shared_data() / name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
    const auto dataset = open_sample_folder(path);
    for (std::size_t i = 0; i < dataset->size(); i += 7)
      EXPECT_NO_THROW((void)test::image_of(*dataset, i)) << dataset->name(i);
  }
}

TEST(SharedData, TheCifarTarIsReadInPlace) {
  const auto path = test::shared_data() / "cifar10-test.tar";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto dataset = open_sample_folder(path);
  EXPECT_EQ(dataset->size(), 10'000u);
  EXPECT_EQ(dataset->classes().size(), 10u);
  for (std::size_t i = 0; i < dataset->size(); i += 500) {
    const Image image = test::image_of(*dataset, i);
    EXPECT_EQ(image.width, 32);
    EXPECT_EQ(image.height, 32);
    EXPECT_EQ(image.channels, 3);
  }
}

}  // namespace
}  // namespace moil::data
