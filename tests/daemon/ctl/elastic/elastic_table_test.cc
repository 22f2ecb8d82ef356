#include "daemon/ctl/elastic/elastic_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/ctl/support.h"

namespace moil::daemon::ctl {
namespace {

using test::block_tensors;
using test::elastic_result;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
  EXPECT_THAT(settings[settings.size() - 2], ElementsAre("choosing took", "1.00 s in all"));
  EXPECT_THAT(settings.back(), ElementsAre("feature maps took", "250 ms in all"));
  EXPECT_THAT(elastic_profile_rows(report)[1],
              ElementsAre("before epoch 1", "200 ms", "50.0 ms", "2.10 s", "measured"));
}

}  // namespace
}  // namespace moil::daemon::ctl
