// Records of text, and such as lack values: one reading for training, labelling and predicting.
#include "datasets/tables/record.h"

#include <cmath>

#include "base/json/json.h"
#include "datasets/kinds/rows/rows_kind.h"
#include "datasets/labels/media_type.h"
#include "datasets/tables/csv_table.h"
#include "datasets/tables/numbers.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;
using ::testing::ElementsAre;

const std::vector<RowColumn> kColumns = {
    {"age", true, {}}, {"colour", false, {"blue", "red"}}, {"height", false, {}}};

KindPtr kind_of_columns() {
  RowsDescription description{{5}, {30, 0, 0, 0, 10}, {10, 1, 1, 1, 2}};
  description.named = kColumns;
  return rows_kind(std::move(description));
}

std::vector<float> made_of(const std::string& file) { return test::made(*kind_of_columns(), file); }

TEST(Record, IsOneReadingHoweverItIsWritten) {
  const auto expected = ElementsAre(1, 0, 0, 1, -1);
  for (const char* same :
       {"age,colour,height\n40,red,8\n", "40,red,8\n", "height,colour,age\n8,red,40\n",
        ",age,kind,colour,height\n17,40,oak,red,8\n", "age;colour;height\r\n40;\"red\";8\r\n",
        "\xef\xbb\xbf"
        "age,colour,height\n40, red ,8",
        "age\tcolour\theight\n40\tred\t8\n"})
    EXPECT_THAT(made_of(same), expected) << same;
  EXPECT_THAT(made_of("age,colour,height\n,blue,10\n"), ElementsAre(0, 1, 1, 0, 0));
  EXPECT_THAT(made_of("age,colour,height\nNA,green,NaN\n"), ElementsAre(0, 1, 0, 0, 0))
      << "a text that is not known, and a number that never lacked";
  EXPECT_THAT(made_of("30,,12\n"), ElementsAre(0, 0, 0, 0, 1));
}

TEST(Record, WhatDoesNotFitIsNamed) {
  const auto refused = [](const std::string& file, const std::vector<std::string>& words) {
    expect_error(ErrorCode::kBadData, words, [&] { (void)made_of(file); });
  };
  refused("age,height\n40,8\n", {"sample: it has no column \"colour\""});
  refused("40,red\n", {"sample: it has 2 fields", "takes 3"});
  refused("age,colour,height\n40,red,tall\n", {"column \"height\" is 'tall'"});
  refused("age,colour,height\n40,red,1e999\n", {"column \"height\" is '1e999'"});
  refused("age,colour,height\n40,red,8\n41,red,8\n", {"several lines"});
  refused("", {"no record"});
  refused(std::string("\xff\xfe"
                      "4\0",
                      4),
          {"UTF-16"});
  const std::vector<float> numbers = {40, 1, 8};
  const auto npy = encode_npy(numbers);
  refused({npy.begin(), npy.end()}, {"column \"colour\" is text", "CSV"});
}

TEST(Record, NumbersInTheColumnsOrderMayBeNpy) {
  const std::vector<RowColumn> columns = {{"age", true, {}}, {"height", false, {}}};
  const std::vector<float> numbers = {40, 8}, three = {1, 2, 3};
  EXPECT_THAT(read_record(encode_npy(numbers), "x", columns), ElementsAre(40, 0, 8));
  expect_error(ErrorCode::kBadData, {"it holds 3 numbers; the model takes 2"},
               [&] { (void)read_record(encode_npy(three), "x", columns); });
}

TEST(Record, ADescriptionReadsBackAndWrongOnesAreNamed) {
  const KindPtr kind = kind_of_columns();
  const KindPtr again = kind_from_json(kind->to_json());
  EXPECT_EQ(again->to_json(), kind->to_json());
  EXPECT_EQ(again->fingerprint(), kind->fingerprint());
  const auto refused = [&](const nlohmann::json& columns, const std::string& word) {
    nlohmann::json json = kind->to_json();
    json["columns"] = columns;
    expect_error(ErrorCode::kInvalidArgument, {"'columns'", word},
                 [&] { (void)kind_from_json(json); });
  };
  refused(nlohmann::json::array(), "no list");
  refused({{{"name", "age"}}}, "as many places");
  refused({{{"nam", "age"}}}, "'name'");
  refused({{{"name", "age"}, {"values", {"a"}}, {"missing", true}}}, "'values'");
  refused({{{"name", "age"}, {"scale", 1}}}, "'scale'");
}

TEST(Record, ALineOfFieldsReadsBack) {
  const std::vector<RowColumn> text = {{"t, or \"so\"", false, {}}};
  for (const std::string value :
       {"a b", "a,b", "a;b", "\"quoted\"", " blank ", "plain", "a\tb", ""}) {
    std::vector<RowColumn> columns = text;
    columns[0].values = {value, "other"};
    const std::string file = csv_line_of({columns[0].name}) + csv_line_of({value});
    EXPECT_THAT(read_record(bytes_of(file), "x", columns), ElementsAre(1, 0)) << file;
  }
}

TEST(Record, ATableIsDescribedByWhatItHolds) {
  test::TempFolder folder;
  const auto file = folder / "t.csv";
  test::write_text(file, "age,colour,kind,height\n20,red,x,1\n40,blue,y,3\n,red,y,5\n30,?,x,7\n");
  const CsvTable table(file, {.label_column = "kind", .split = {}});
  const std::size_t trained[] = {0, 1, 2, 3};
  const RowsDescription rows = describe_rows({5}, table, trained);
  ASSERT_EQ(rows.named.size(), 3U);
  EXPECT_TRUE(rows.named[0].may_lack);
  EXPECT_THAT(rows.named[1].values, ElementsAre("blue", "red"));
  EXPECT_FALSE(rows.named[2].may_lack);
  EXPECT_THAT(rows.mean, ElementsAre(30, 0, 0, 0, 4)) << "what is missing is in no mean";
  EXPECT_EQ(rows.stddev[1], 1);
  EXPECT_EQ(media_type_of(table.encoded(2)), kCsv);
  expect_error(
      ErrorCode::kBadData,
      {"make 5 numbers (age, age is missing, colour = blue, colour = red, height)", "takes 3"},
      [&] { (void)describe_rows({3}, table, trained); });
  std::string many = "name,kind\n";
  for (int i = 0; i <= static_cast<int>(kMostColumnValues); ++i)
    many += "n" + std::to_string(i) + ",x\n";
  test::write_text(file, many);
  const CsvTable names(file, {.label_column = "kind", .split = {}});
  expect_error(ErrorCode::kBadData,
               {"column \"name\" is text of more than 32 values", "take it out"},
               [&] { (void)describe_rows({1}, names, {}); });
}

}  // namespace
}  // namespace moil::data
