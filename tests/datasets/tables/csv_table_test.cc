#include "datasets/tables/csv_table.h"

#include "datasets/labels/csv_line.h"
#include "datasets/tables/numbers.h"
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

TEST_F(CsvTableTest, FractionsAndManyNumbersAreAmounts) {
  const auto of = [&](const std::vector<std::string>& labels) {
    std::string text = "a,label\n";
    for (const std::string& label : labels) text += "1," + label + "\n";
    return open(text).labels_are_amounts();
  };
  EXPECT_FALSE(of({"on", "off"}));
  EXPECT_FALSE(of({"1", "2", "unknown"}));
  EXPECT_FALSE(of({"0", "1"}));
  EXPECT_TRUE(of({"0", "1.5"}));
  EXPECT_TRUE(of({"-0.25", "1e3"}));
  std::vector<std::string> grades;
  for (std::size_t i = 0; i < kMostNumberedClasses; ++i) grades.push_back(std::to_string(i));
  EXPECT_FALSE(of(grades));
  grades.emplace_back("21");
  EXPECT_TRUE(of(grades));
}

TEST_F(CsvTableTest, AmountsAreHeldOutOverAllIfTheyAreNoClasses) {
  std::string text = "a,label\n";
  for (int i = 0; i < 50; ++i) text += std::to_string(i) + "," + std::to_string(i) + ".5\n";
  test::write_text(file(), text);
  const auto held_out = [&](bool are_classes) {
    const SplitPolicy split{.validation_fraction = 0.2, .seed = 0, .by_class = true};
    const CsvTable table(
        file(), {.label_column = "label", .split = split, .amounts_are_classes = are_classes});
    return samples_of(table, Split::kValidation).size();
  };
  EXPECT_EQ(held_out(false), 10U);
  EXPECT_EQ(held_out(true), 0U) << "each is the only one of its class";
}

TEST_F(CsvTableTest, WhatIsWrongIsNamed) {
  refused(ErrorCode::kInvalidArgument, "a,b\n1,2\n", {"\"label\"", "a, b"});
  refused(ErrorCode::kBadData, "a,label\n1,x\n2,x\nmany,y\n", {"t.csv:4", "\"a\"", "'many'"});
  refused(ErrorCode::kBadData, "a,label\n1,x\ninf,y\n", {"t.csv:3", "\"a\"", "'inf'"});
  refused(ErrorCode::kBadData, "a,label\n,x\n", {"no column", "holds anything"});
  refused(ErrorCode::kBadData, "a,a,label\n1,red,x\n", {"two columns are called \"a\""});
  refused(ErrorCode::kBadData, "1,2,label\n1,red,x\n", {"numbers for names"});
  refused(ErrorCode::kBadData,
          std::string("\xff\xfe"
                      "a\0",
                      4),
          {"UTF-16", "save it as UTF-8"});
  refused(ErrorCode::kBadData, std::string("a\0,\0b\0", 6), {"UTF-16", "save it as UTF-8"});
  refused(ErrorCode::kBadData, "a,label\n1e300,x\n", {"t.csv:2", "finite"});
  refused(ErrorCode::kBadData, "a,label\n1,x,3\n", {"t.csv:2", "3 fields"});
  refused(ErrorCode::kBadData, "a,label\n1,\n", {"t.csv:2", "label"});
  refused(ErrorCode::kBadData, "a,label\n", {"record"});
  refused(ErrorCode::kBadData, "label\nx\n", {"no column"});
  refused(ErrorCode::kBadData, "", {"empty"});
}

TEST_F(CsvTableTest, WhatIsLeftOutIsSaid) {
  const CsvTable pandas = open(",a,empty,label\n0,5,,x\n1,6,,y\n");
  EXPECT_THAT(pandas.columns(), ElementsAre("a"));
  EXPECT_THAT(read_numbers(pandas.encoded(1), "x").values, ElementsAre(6));
  ASSERT_EQ(pandas.remarks().size(), 2U);
  EXPECT_THAT(pandas.remarks()[0], ::testing::HasSubstr("column 1 has no name and is left out"));
  EXPECT_THAT(pandas.remarks()[1], ::testing::HasSubstr("\"empty\" has no value"));
  EXPECT_THAT(open("Unnamed: 0,a,label\n0,5,x\n1,6,y\n").columns(), ElementsAre("a"));
  EXPECT_TRUE(open("a,label\n5,x\n6,y\n").remarks().empty());
}

TEST_F(CsvTableTest, RecordsUnderSeveralLabelsAreSaidWithNumbers) {
  const CsvTable table = open("a,b,label\n1,2,x\n3,4,y\n1,2,y\n3,4,y\n1,2,x\n");
  ASSERT_EQ(table.remarks().size(), 1U);
  EXPECT_THAT(table.remarks()[0],
              ::testing::HasSubstr("3 of 5 records stand under several labels"));
  EXPECT_THAT(table.remarks()[0], ::testing::HasSubstr("line 2 (x) is line 4 (y)"));
  const CsvTable numbers(file(), {.label_column = "label", .split = {.by_class = false}});
  EXPECT_TRUE(numbers.remarks().empty()) << "one thing may be measured twice";
}

TEST_F(CsvTableTest, TextAndGapsStayInSamples) {
  const CsvTable table = open("size,label,colour\n1,x,\"dark red\"\n,y,blue\n");
  EXPECT_EQ(table.encoded(0), test::bytes_of("size,colour\n1,\"dark red\"\n"));
  EXPECT_EQ(table.encoded(1), test::bytes_of("size,colour\n,blue\n"));
}

TEST(CsvLine, Fields) {
  EXPECT_THAT(fields_of("1,2,", ','), ElementsAre("1", "2", ""));
  EXPECT_THAT(fields_of(" 1 , \"a,b\" ,3", ','), ElementsAre("1", "a,b", "3"));
  EXPECT_THAT(fields_of("  1   2 ", ' '), ElementsAre("1", "2"));
  EXPECT_THAT(fields_of("\"open, 1", ','), ElementsAre("open, 1"));
  EXPECT_THAT(fields_of("", ','), ElementsAre(""));
}

TEST_F(CsvTableTest, ColumnsThatAreCalledSoAreIds) {
  const CsvTable table = open("userId,movie_id,label\n17,A1,x\n007,1e999,y\n17,NA,x\n");
  EXPECT_TRUE(table.columns_are_ids());
  EXPECT_EQ(table.encoded(1), test::bytes_of("userId,movie_id\n007,1e999\n"))
      << "as they are written";
  EXPECT_TRUE(open("user,item,label\n1,2,x\n").columns_are_ids());
  EXPECT_FALSE(open("id,age,label\n1,2,x\n").columns_are_ids());
  EXPECT_FALSE(open("period,grid,label\n1,2,x\n").columns_are_ids());
}

TEST_F(CsvTableTest, ColumnsThatAreNamedAreIdsAndTheOthersAreLeftOut) {
  test::write_text(file(), "who,label,when,what\n1,x,5,2\n3,y,6,4\n");
  const CsvTable table(file(), {.label_column = "label", .split = {}, .ids = {"what", "who"}});
  EXPECT_TRUE(table.columns_are_ids());
  EXPECT_THAT(table.columns(), ElementsAre("who", "what"));
  EXPECT_EQ(table.encoded(0), test::bytes_of("who,what\n1,2\n"));
  ASSERT_EQ(table.remarks().size(), 1U);
  EXPECT_THAT(table.remarks()[0], ::testing::HasSubstr("\"when\" is left out"));
  for (const char* name : {"whom", "label"})
    expect_error(ErrorCode::kInvalidArgument, {"no column \"" + std::string(name) + "\""}, [&] {
      (void)CsvTable(file(), {.label_column = "label", .split = {}, .ids = {name}});
    });
}

}  // namespace
}  // namespace moil::data
