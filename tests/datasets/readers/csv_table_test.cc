#include "datasets/readers/csv_table.h"

#include "datasets/kinds/rows/numbers.h"
#include "datasets/labels/csv_line.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;

class CsvTableTest : public ::testing::Test {
 protected:
  CsvTable open(const std::string& text) {
    test::write_text(file(), text);
    return CsvTable(file(), {.label_column = "label", .split = {}});
  }
  void refused(ErrorCode code, const std::string& text, const std::vector<std::string>& words) {
    expect_error(code, words, [&] { (void)open(text); });
  }
  std::filesystem::path file() const { return folder_ / "t.csv"; }
  test::TempFolder folder_;
};

TEST_F(CsvTableTest, ARecordALine) {
  const CsvTable table =
      open("width,label,\"height, cm\"\r\n1,tree,2.5\r\n\r\n3,\"a \"\"bush\"\"\",-4\n");
  ASSERT_EQ(table.size(), 2U);
  EXPECT_THAT(table.classes(), ElementsAre("a \"bush\"", "tree"));
  EXPECT_THAT(table.columns(), ElementsAre("width", "height, cm"));
  EXPECT_THAT(single_labels(table), ElementsAre(1, 0));
  EXPECT_THAT(read_numbers(table.encoded(1), "x").values, ElementsAre(3, -4));
  EXPECT_EQ(table.name(1), file().string() + ":4");
  EXPECT_EQ(table.digest(0), digest_of(table.encoded(0)));
}

TEST_F(CsvTableTest, OtherSeparatorsAndGzip) {
  EXPECT_EQ(open("a;label\n1;x\n").size(), 1U);
  EXPECT_EQ(open("a\tlabel\n1\tx\n").size(), 1U);
  EXPECT_EQ(open("\xef\xbb\xbflabel,a\nx,1\n").classes()[0], "x");
  test::write_gzip(file(), "a,label\n1,x\n2,y\n");
  EXPECT_EQ(CsvTable(file(), {.label_column = "label", .split = {}}).size(), 2U);
}

TEST_F(CsvTableTest, WhatIsWrongIsNamed) {
  refused(ErrorCode::kInvalidArgument, "a,b\n1,2\n", {"\"label\"", "a, b"});
  refused(ErrorCode::kBadData, "a,label\n1,x\nnan,y\n", {"t.csv:3", "\"a\"", "'nan'"});
  refused(ErrorCode::kBadData, "a,label\n,x\n", {"t.csv:2", "\"a\"", "finite"});
  refused(ErrorCode::kBadData, "a,label\n1e300,x\n", {"t.csv:2", "finite"});
  refused(ErrorCode::kBadData, "a,label\n1,x,3\n", {"t.csv:2", "3 fields"});
  refused(ErrorCode::kBadData, "a,label\n1,\n", {"t.csv:2", "label"});
  refused(ErrorCode::kBadData, "a,label\n", {"record"});
  refused(ErrorCode::kBadData, "label\nx\n", {"no column"});
  refused(ErrorCode::kBadData, "", {"empty"});
}

TEST(CsvLine, Fields) {
  EXPECT_THAT(fields_of("1,2,", ','), ElementsAre("1", "2", ""));
  EXPECT_THAT(fields_of(" 1 , \"a,b\" ,3", ','), ElementsAre("1", "a,b", "3"));
  EXPECT_THAT(fields_of("  1   2 ", ' '), ElementsAre("1", "2"));
  EXPECT_THAT(fields_of("\"open, 1", ','), ElementsAre("open, 1"));
  EXPECT_THAT(fields_of("", ','), ElementsAre(""));
}

}  // namespace
}  // namespace moil::data
