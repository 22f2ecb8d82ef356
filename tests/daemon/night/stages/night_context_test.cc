#include "daemon/night/stages/night_context.h"

#include <fcntl.h>

#include "base/files/unique_fd.h"
#include "datasets/labels/label_store.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

using daemon::Stage;

class NightContextTest : public ::testing::Test {
 protected:
  NightContextTest() { std::filesystem::create_directories(place_.layout().job(1)); }

  JobPlace place_;
  const daemon::JobFile file_ = place_.job_file(place_.submitted(place_.description()), 1);
  const UniqueFd nowhere_{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  daemon::EventWriter events_{nowhere_.get()};
  std::atomic<bool> stop_ = false;
};

TEST_F(NightContextTest, StopsBetweenSteps) {
  NightContext night(place_.layout(), file_, events_, stop_);
  night.begin(Stage::kMix, 2);
  EXPECT_TRUE(night.report(Stage::kMix, 1, 2));
  stop_ = true;
  EXPECT_FALSE(night.report(Stage::kMix, 1, 2));
  EXPECT_THROW(night.progress(Stage::kMix, 2, 2), Stopped);
  EXPECT_THROW(night.begin(Stage::kCache, 1), Stopped);
}

TEST_F(NightContextTest, ATrialHasFilesOfItsOwnAndEndsWithItsTime) {
  NightContext night(place_.layout(), file_, events_, stop_);
  bool is_in_time = true;
  NightContext trial(night, night.files.trial(0), night.spec, {},
                     [&](Stage, std::int64_t, std::int64_t) { return is_in_time; });
  EXPECT_TRUE(trial.is_trial());
  EXPECT_FALSE(night.is_trial());
  trial.choices.threads = 7;
  trial.save_choices();
  EXPECT_FALSE(night.files.load_choices());
  trial.begin(Stage::kCache, 2);
  is_in_time = false;
  EXPECT_THROW(trial.progress(Stage::kCache, 1, 2), Stopped);
  EXPECT_TRUE(night.report(Stage::kCache, 1, 2));
  is_in_time = true;
  stop_ = true;
  EXPECT_THROW(trial.progress(Stage::kCache, 2, 2), Stopped);
}

// Forgetting wins against a running night, from the next stage on.
TEST_F(NightContextTest, AStageDoesNotBeginWithAForgottenSample) {
  NightContext night(place_.layout(), file_, events_, stop_);
  night.mix = night.data.draw_mix(night.spec, night.base);
  night.begin(Stage::kCache, 1);
  const auto local = std::ranges::find_if(night.mix.train, [](const data::MixedSample& sample) {
    return sample.ref.source == data::Source::kLocal;
  });
  ASSERT_NE(local, night.mix.train.end());
  data::LabelStore(place_.layout().labels(), data::LabelStore::Access::kReadWrite)
      .forget(local->digest);
  EXPECT_THROW(night.begin(Stage::kTrain, 1), SampleForgotten);
}

}  // namespace
}  // namespace moil::night
