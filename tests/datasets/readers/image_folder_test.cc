#include "datasets/readers/image_folder.h"

#include "base/file.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using testing::bytes_of;
using ::testing::ElementsAre;
using testing::expect_error;
using testing::pattern;
using testing::TarEntry;

std::vector<TarEntry> photos() {
  return {{"dog/2.png", encode_png(pattern(6, 5, 3))},
          {"cat/deep/1.PNG", encode_png(pattern(4, 4, 1))},
          {"cat/0.jpeg", encode_jpeg(pattern(8, 8, 3), 90)},
          {"cat/.hidden.png", bytes_of("?")},
          {"cat/notes.txt", bytes_of("?")},
          {"top.png", bytes_of("?")},
          {"ant/3.jpg", bytes_of("no image")}};
}

class ImageFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, bytes] : photos()) testing::write_bytes(folder_ / ("f/" + name), bytes);
    testing::write_tar(folder_ / "f.tar", photos());
  }
  std::vector<std::filesystem::path> both() const { return {folder_ / "f", folder_ / "f.tar"}; }
  testing::TempFolder folder_;
};

TEST_F(ImageFolderTest, AFolderAndItsTarAreTheSameDataset) {
  for (const auto& path : both()) {
    const auto dataset = open_image_folder(path);
    EXPECT_THAT(dataset->classes(), ElementsAre("ant", "cat", "dog")) << path;
    ASSERT_EQ(dataset->size(), 4u);
    EXPECT_EQ(dataset->skipped(), 3u);
    EXPECT_THAT(single_labels(*dataset), ElementsAre(0, 1, 1, 2));
    EXPECT_EQ(dataset->read(2), pattern(4, 4, 1));
    EXPECT_EQ(dataset->read(3), pattern(6, 5, 3));
    EXPECT_EQ(dataset->digest(3), digest_of(photos()[0].bytes));
    EXPECT_EQ(dataset->encoded(3), photos()[0].bytes);
    EXPECT_EQ(dataset->split(0), Split::kTrain);
  }
}

TEST_F(ImageFolderTest, ABadImageIsNamed) {
  for (const auto& path : both()) {
    const auto dataset = open_image_folder(path);
    expect_error(ErrorCode::kBadData, {path.string(), "ant/3.jpg"},
                 [&] { (void)dataset->read(0); });
  }
}

TEST_F(ImageFolderTest, AGivenClassListSetsTheIndices) {
  ImageFolderOptions options;
  options.classes = {"dog", "cat", "ant", "bee"};
  for (const auto& path : both()) {
    EXPECT_THAT(single_labels(*open_image_folder(path, options)), ElementsAre(2, 1, 1, 0));
  }
  options.classes = {"dog", "cat"};
  expect_error(ErrorCode::kBadData, {"ant/3.jpg", "class"},
               [&] { (void)open_image_folder(folder_ / "f", options); });
}

TEST_F(ImageFolderTest, SplitsFollowThePolicy) {
  ImageFolderOptions options;
  options.split.validation_fraction = 1;
  EXPECT_EQ(samples_of(*open_image_folder(folder_ / "f.tar", options), Split::kValidation).size(),
            4u);
  options.split.validation_fraction = 0.5;
  EXPECT_EQ(samples_of(*open_image_folder(folder_ / "f.tar", options), Split::kValidation).size(),
            3u)
      << "one of cat's two, and round(0.5) of the single ant and dog";
}

TEST_F(ImageFolderTest, WithoutImagesItIsAnError) {
  testing::write_text(folder_ / "empty/readme.txt", "nothing here");
  expect_error(ErrorCode::kBadData, {"empty", "no image"},
               [&] { (void)open_image_folder(folder_ / "empty"); });
  expect_error(ErrorCode::kNotFound, {"nowhere"},
               [&] { (void)open_image_folder(folder_ / "nowhere"); });
  const auto dataset = open_image_folder(folder_ / "f");
  expect_error(ErrorCode::kInvalidArgument, {"no sample 4"}, [&] { (void)dataset->labels(4); });
}

TEST(SharedData, TheCifarTarIsReadInPlace) {
  const auto path = testing::shared_data() / "cifar10-test.tar";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto dataset = open_image_folder(path);
  EXPECT_EQ(dataset->size(), 10'000u);
  EXPECT_EQ(dataset->classes().size(), 10u);
  for (std::size_t i = 0; i < dataset->size(); i += 500) {
    const Image image = dataset->read(i);
    EXPECT_EQ(image.width, 32);
    EXPECT_EQ(image.height, 32);
    EXPECT_EQ(image.channels, 3);
  }
}

}  // namespace
}  // namespace moil::data
