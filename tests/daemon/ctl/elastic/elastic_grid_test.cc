#include "daemon/ctl/elastic/elastic_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/ctl/support.h"

namespace moil::daemon::ctl {
namespace {

using test::block_tensors;
using test::elastic_result;
using ::testing::ElementsAre;

std::vector<std::string> names_of(const std::vector<GridRow>& rows) {
  std::vector<std::string> names;
  for (const GridRow& row : rows) names.push_back(row.name);
  return names;
}

TEST(ElasticGrid, GroupsAsTheRoomAsks) {
  const auto names = block_tensors(2);
  EXPECT_EQ(names_of(group_names(names, 6)), names);
  EXPECT_THAT(names_of(group_names(names, 5)),
              ElementsAre("block1.conv", "block1.bn", "block2.conv", "block2.bn"));
  EXPECT_THAT(names_of(group_names(names, 3)), ElementsAre("block1", "block2"));
  EXPECT_THAT(names_of(group_names(names, 1)), ElementsAre("block1 to block2"));
}

TEST(ElasticGrid, GroupsHoldEveryTensorOnce) {
  const auto names = block_tensors(71);
  for (const std::size_t most : {1U, 2U, 7U, 70U, 71U, 100U, 142U, 213U, 500U}) {
    const auto rows = group_names(names, most);
    EXPECT_LE(rows.size(), most);
    std::size_t next = 0;
    for (const GridRow& row : rows) {
      EXPECT_EQ(row.first, next);
      EXPECT_GT(row.end, row.first);
      next = row.end;
    }
    EXPECT_EQ(next, names.size());
  }
}

TEST(ElasticGrid, ABeginningThatAllShareTellsNothing) {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back("model.layer" + std::to_string(i) + ".kernel");
  const auto rows = group_names(names, 10);
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_EQ(rows[0].name, "model.layer0 to model.layer1");
}

TEST(ElasticGrid, NamesWithoutParts) {
  EXPECT_LE(group_names(std::vector<std::string>{"a", "", "a", "..", "."}, 2).size(), 2U);
  EXPECT_TRUE(group_names({}, 3).empty());
}

TEST(ElasticGrid, CellsTellHowMuchOfThemWasTrained) {
  const ElasticReport report = read_elastic_report(elastic_result(block_tensors(2), 3));
  const ElasticGrid fine = make_elastic_grid(report, 6, 3);
  EXPECT_FALSE(fine.groups());
  EXPECT_EQ(fine.cells[5][0].selected, 1);
  EXPECT_EQ(fine.cells[4][0].selected, 0);
  EXPECT_EQ(fine.cells[4][1].share, 0.5);

  const ElasticGrid coarse = make_elastic_grid(report, 2, 1);
  EXPECT_TRUE(coarse.groups());
  EXPECT_EQ(epochs_text(coarse.columns[0].first_epoch, coarse.columns[0].last_epoch), "1-9");
  EXPECT_DOUBLE_EQ(coarse.cells[1][0].selected, 6.0 / 9);  // 1 + 2 + 3 of 3 tensors, 3 times
  EXPECT_DOUBLE_EQ(coarse.cells[1][0].share.value(), 1);
  EXPECT_EQ(coarse.cells[0][0].selected, 0);
}

}  // namespace
}  // namespace moil::daemon::ctl
