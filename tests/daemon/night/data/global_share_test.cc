#include "daemon/night/data/global_share.h"

#include <gtest/gtest.h>

namespace moil::night {
namespace {

daemon::JobSpec job_with(const Json& more) {
  Json document = {{"name", "n"}, {"model", "m"}, {"global", {{"pack", "/p"}}}};
  document.merge_patch(more);
  return daemon::job_spec_from_json(document);
}

TEST(GlobalShare, GrowsWithTheLocalSamples) {
  EXPECT_EQ(global_share(job_with(Json::object()), 50).limit, 1000);
  EXPECT_EQ(global_share(job_with(Json::object()), 5000).limit, 5000);
  EXPECT_EQ(global_share(job_with(Json::object()), 50).alpha, 1);
  const auto set = global_share(job_with({{"global", {{"alpha", 0.2}}}}), 50);
  EXPECT_EQ(set.alpha, 0.2);
  EXPECT_FALSE(set.limit) << "who sets alpha wants that share";
  EXPECT_EQ(global_share(job_with({{"global", {{"limit", 7}}}}), 50).limit, 7);
}

}  // namespace
}  // namespace moil::night
