// A night that was stopped and resumed ends in the weights of one that never was, whatever the
// cache had room for meanwhile.
#include "base/files/file.h"
#include "daemon/night/plan/kernel_profile.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

class ResumedNight : public ::testing::TestWithParam<const char*> {
 protected:
  ResumedNight() {
    Json description = place_.description();
    description.merge_patch({{"train", {{"epochs", 1000}, {"distill", 0.5}}},
                             {"augment", {{"views", 3}}},
                             {"freeze", {{"trainable_layers", 1}}},
                             {"cache", {{"dtype", GetParam()}}},
                             {"threads", 1}});
    spec_ = place_.submitted(description);
  }

  bool attempt(std::int64_t job, std::int64_t quota, bool stops) {
    daemon::JobFile file = place_.job_file(spec_, job);
    file.cache_quota_bytes = quota;
    return place_.attempt(file, stops);
  }

  std::string weights(std::int64_t job) const {
    const auto file = place_.job_file(spec_, job);
    return read_text(place_.layout().version("small", file.version) / "weights.safetensors");
  }

  JobPlace place_;
  daemon::JobSpec spec_;
};

// Some of the maps fit; 24 of training in three views, and those that judge.
constexpr std::int64_t kShort = 3000, kRoomy = 1 << 30;

TEST_P(ResumedNight, EndsInTheSameWeightsWhateverTheCacheKept) {
  ASSERT_TRUE(attempt(1, kShort, false));
  ASSERT_TRUE(attempt(2, kShort, false)) << "with the kernels that the first one measured";
  std::int64_t job = 2;
  for (const auto& [before, after] :
       {std::pair(kShort, kRoomy), std::pair(kShort, kShort), std::pair(kShort, std::int64_t{1})}) {
    ++job;
    std::filesystem::remove_all(place_.layout().cache());
    ASSERT_FALSE(attempt(job, before, true)) << "it had ended before it could be stopped";
    if (after == 1) std::filesystem::remove_all(place_.layout().cache());
    ASSERT_TRUE(attempt(job, after, false));
    EXPECT_EQ(weights(job), weights(2)) << before << " bytes of cache, then " << after;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ResumedNight, ::testing::Values("fp32", "bf16"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace moil::night
