#include "datasets/tables/csv_digits.h"

#include "base/files/file.h"
#include "datasets/images/codec.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;

class CsvDigitsTest : public ::testing::Test {
 protected:
  CsvDigitsTest() {
    options_.width = 2;
    options_.height = 2;
  }
  CsvDigits open(const std::string& text) {
    test::write_text(file(), text);
    return CsvDigits(file(), options_);
  }
  void refused(const std::string& text, const std::vector<std::string>& fragments) {
    expect_error(ErrorCode::kBadData, fragments, [&] { open(text); });
  }
  std::filesystem::path file() const { return folder_ / "digits.csv"; }

  test::TempFolder folder_;
  CsvDigitsOptions options_;
};

TEST_F(CsvDigitsTest, ReadsPixelsAndLabels) {
  const auto dataset = open("0,8,16,4,7\n\n1.0,2.0e+00,3,4,0\r\n");
  ASSERT_EQ(dataset.size(), 2u);
  EXPECT_EQ(dataset.classes().size(), 10u);
  EXPECT_THAT(single_labels(dataset), ElementsAre(7, 0));
  const Image image = test::image_of(dataset, 0);
  EXPECT_THAT(image.pixels, ElementsAre(0, 128, 255, 64));
  EXPECT_EQ(dataset.digest(0), digest_of(image.pixels));
  EXPECT_EQ(decode_image(dataset.encoded(0), "x"), image);
  EXPECT_EQ(dataset.name(1), file().string() + ":3");
}

TEST_F(CsvDigitsTest, GzipIsReadAsPlainTextIs) {
  const std::string text = "0,8,16,4,7\n1,2,3,4,0\n";
  test::write_gzip(file(), text);
  EXPECT_EQ(CsvDigits(file(), options_).digest(1), open(text).digest(1));
}

TEST_F(CsvDigitsTest, BadLinesAreNamed) {
  refused("0,0,0,0,1\n0,0,0\n", {"digits.csv:2", "3 columns"});
  refused("0,0,0,0\n", {"digits.csv:1", "label"});
  refused("0,0,0,0,1,5\n", {"digits.csv:1", "more than 5"});
  refused("0,x,0,0,1\n", {"digits.csv:1", "column 2"});
  refused("0,17,0,0,1\n", {"column 2", "0 to 16"});
  refused("0,-1,0,0,1\n", {"column 2"});
  refused("0,nan,0,0,1\n", {"column 2"});
  refused("0,0,0,0,10\n", {"0 to 9"});
  refused("0,0,0,0,1.5\n", {"0 to 9"});
  refused("", {"no sample"});
}

TEST_F(CsvDigitsTest, BadArchivesAreRefused) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919 % 17) + ",0,0,0,1\n";
  test::write_gzip(file(), text);
  auto bytes = read_file(file(), 1 << 20);
  bytes.resize(bytes.size() / 2);
  test::write_bytes(file(), bytes);
  expect_error(ErrorCode::kBadData, {"digits.csv"}, [&] { CsvDigits(file(), options_); });
  options_.max_bytes = 100;
  refused(text, {"100 bytes"});
  expect_error(ErrorCode::kNotFound, {"none.csv"},
               [&] { CsvDigits(folder_ / "none.csv", options_); });
}

}  // namespace
}  // namespace moil::data
