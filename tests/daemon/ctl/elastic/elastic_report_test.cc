#include "daemon/ctl/elastic/elastic_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace moil::daemon::ctl
