#include "datasets/tables/csv_names.h"

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;

std::vector<std::string> names(std::string_view text, std::size_t expected) {
  return names_of_csv(text, expected, "labels.csv");
}

TEST(CsvNames, NeitherHeadNorQuotesAreNames) {
  EXPECT_THAT(names("label\n\"Domestic animals, pets\"\n\"the \"\"best\"\"\"\ncat\n", 3),
              ElementsAre("Domestic animals, pets", "the \"best\"", "cat"));
  EXPECT_THAT(names("\xef\xbb\xbfindex,mid,display_name\r\n0,/m/09x0r,Speech\r\n"
                    "1,/m/0ytgt,\"Child speech, kid speaking\"\r\n",
                    2),
              ElementsAre("Speech", "Child speech, kid speaking"));
  EXPECT_THAT(names("id;Name\n0;red fox\n1;cat\n", 2), ElementsAre("red fox", "cat"));
  EXPECT_THAT(names("what it is\nred fox\ncat\n", 2), ElementsAre("red fox", "cat"));
}

TEST(CsvNames, AFileWithoutAHeadKeepsItsFirstName) {
  EXPECT_THAT(names("red fox\ncat\n", 2), ElementsAre("red fox", "cat"));
  EXPECT_THAT(names("0,\"red fox\"\n1,cat\n", 2), ElementsAre("red fox", "cat"));
  EXPECT_THAT(names("label\ncat\n", 2), ElementsAre("label", "cat"));
  EXPECT_THAT(names("0\n1\n2\n", 3), ElementsAre("0", "1", "2"));
}

TEST(CsvNames, WhatIsNotClearIsTold) {
  expect_error(ErrorCode::kBadData, {"labels.csv", "3 columns", "\"label\""},
               [] { (void)names("0,a,b\n1,c,d\n", 2); });
  expect_error(ErrorCode::kBadData, {"labels.csv", "name 2 is missing"},
               [] { (void)names("label\ncat\n\"\"\n", 2); });
  expect_error(ErrorCode::kBadData, {"no names"}, [] { (void)names("", 2); });
  expect_error(ErrorCode::kBadData, {"no names"}, [] { (void)names("label\n", 2); });
}

}  // namespace
}  // namespace moil::data
