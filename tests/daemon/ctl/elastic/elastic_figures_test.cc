// What a report tells of elastic training: read, as rows, and as the cells of a grid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/ctl/elastic/elastic_grid.h"
#include "daemon/ctl/elastic/elastic_report.h"
#include "daemon/ctl/elastic/elastic_table.h"
#include "tests/daemon/ctl/support.h"

namespace moil::daemon::ctl {
namespace {

using test::block_tensors;
using test::elastic_result;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ElasticReport, ReadsEveryMember) {
  const ElasticReport report = read_elastic_report(elastic_result(block_tensors(1), 2));
  EXPECT_EQ(report.rho, 0.5);
  EXPECT_EQ(report.smallest_rho, 0.23);
  EXPECT_EQ(report.full_planned_bytes, 4 << 20);
  EXPECT_THAT(report.tensors,
              ElementsAre("block1.conv.kernel", "block1.bn.gamma", "block1.bn.beta"));
  ASSERT_EQ(report.intervals.size(), 2U);
  const ElasticInterval& second = report.intervals[1];
  EXPECT_EQ(epochs_text(second.first, second.last), "4-6");
  EXPECT_THAT(second.selected, ElementsAre(false, true, true));
  EXPECT_THAT(second.shares, ElementsAre(0, 0.5, 0.5));  // what harms has none
  EXPECT_EQ(second.measured_step_seconds, 0.1);
  EXPECT_EQ(share_of_full_step(report, second), 0.5);
  EXPECT_EQ(count_selected(second), 2U);
  ASSERT_EQ(report.profiles.size(), 1U);
  EXPECT_EQ(report.profiles[0].why, "measured");
  EXPECT_FALSE(report.cut);
}

TEST(ElasticReport, AbsentMembersStayEmpty) {
  const ElasticReport none = read_elastic_report(Json::object());
  EXPECT_FALSE(none.rho);
  EXPECT_THAT(none.tensors, IsEmpty());
  EXPECT_THAT(none.intervals, IsEmpty());

  const ElasticReport bare = read_elastic_report({{"interval_epochs", 2},
                                                  {"tensors", {"a.kernel"}},
                                                  {"intervals", {Json::object(), nullptr}}});
  ASSERT_EQ(bare.intervals.size(), 2U);
  EXPECT_EQ(epochs_text(bare.intervals[1].first, bare.intervals[1].last), "3-4");
  EXPECT_THAT(bare.intervals[1].shares, IsEmpty());
  EXPECT_FALSE(has_shares(bare));
  EXPECT_FALSE(share_of_full_step(bare, bare.intervals[0]));
}

TEST(ElasticReport, AStepThatWasNotMeasuredIsAsPredicted) {
  Json result = elastic_result(block_tensors(1), 1);
  result["intervals"][0]["measured_step_seconds"] = 0;
  const ElasticReport report = read_elastic_report(result);
  EXPECT_DOUBLE_EQ(share_of_full_step(report, report.intervals[0]).value(), 0.45);
}

TEST(ElasticReport, MembersOfAnotherTypeAreAsAbsent) {
  const ElasticReport report =
      read_elastic_report({{"rho", "half"},
                           {"tensors", {"a.kernel", 7, "a.kernel", "b.bias"}},
                           {"remark", {1}},
                           {"profiles", 3},
                           {"intervals",
                            {{{"epoch", -1e300},
                              {"epochs", 1e300},
                              {"selected", {"b.bias", "no.such", 5}},
                              {"importance", {nullptr, "x", 3}}}}}});
  EXPECT_FALSE(report.rho);
  EXPECT_THAT(report.tensors, ElementsAre("a.kernel", "b.bias"));
  EXPECT_EQ(epochs_text(report.intervals[0].first, report.intervals[0].last), "1-1000000000");
  EXPECT_THAT(report.intervals[0].selected, ElementsAre(false, true));
  EXPECT_THAT(report.intervals[0].shares, ElementsAre(0, 0));
}

TEST(ElasticReport, SizesAreBounded) {
  std::vector<std::string> names;
  for (int i = 0; i < 10'001; ++i) names.push_back("t" + std::to_string(i));
  Json result{{"tensors", names}, {"intervals", Json(1'001, Json::object())}};
  const ElasticReport report = read_elastic_report(result);
  EXPECT_EQ(report.tensors.size(), 10'000U);
  EXPECT_EQ(report.intervals.size(), 1'000U);
  EXPECT_TRUE(report.cut);
}

TEST(ElasticTable, ARowAnIntervalAndFullTraining) {
  const Rows rows = elastic_interval_rows(read_elastic_report(elastic_result(block_tensors(1), 2)));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[2], ElementsAre("4-6", "2 of 3", "90.0 ms", "100 ms", "50.0%", "1.0 MiB",
                                   "31.0 ms + 24.0 ms", "block0.relu"));
  EXPECT_EQ(rows[1].back(), "-");
  EXPECT_THAT(rows[3], ElementsAre("full", "3 of 3", "-", "200 ms", "100.0%", "4.0 MiB", "-", "-"));
}

TEST(ElasticTable, WhatIsNotRecordedIsADash) {
  const ElasticReport report =
      read_elastic_report({{"tensors", {"a.kernel"}}, {"intervals", {Json::object()}}});
  const Rows rows = elastic_interval_rows(report);
  EXPECT_THAT(rows[1], ElementsAre("1", "0 of 1", "-", "-", "-", "-", "- + -", "-"));
  EXPECT_THAT(rows[2], ElementsAre("full", "1 of 1", "-", "-", "-", "-", "-", "-"));
  EXPECT_THAT(elastic_profile_rows(report), IsEmpty());
  EXPECT_THAT(elastic_setting_rows(report), IsEmpty());
}

TEST(ElasticTable, SettingsAndProfiles) {
  const ElasticReport report = read_elastic_report(elastic_result(block_tensors(1), 2));
  EXPECT_THAT(elastic_setting_rows(report)[0],
              ElementsAre("a step may take", "50.0% of a full step"));
  const Rows settings = elastic_setting_rows(report);
  EXPECT_THAT(settings[1], ElementsAre("at the least", "23.0%"));
  EXPECT_THAT(settings[settings.size() - 2], ElementsAre("choosing took", "1.00 s in all"));
  EXPECT_THAT(settings.back(), ElementsAre("feature maps took", "250 ms in all"));
  EXPECT_THAT(elastic_profile_rows(report)[1],
              ElementsAre("before epoch 1", "200 ms", "50.0 ms", "2.10 s", "measured"));
}

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
