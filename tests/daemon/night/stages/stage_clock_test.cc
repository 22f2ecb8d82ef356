#include "daemon/night/stages/stage_clock.h"

#include <thread>

#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

using daemon::Stage;
using namespace std::chrono_literals;

TEST(StageClock, AddsUpOverAttempts) {
  const TempFolder temp;
  const NightFiles files(temp / "");
  for (int attempt = 1; attempt <= 2; ++attempt) {
    StageClock clock(files);
    clock.begin(Stage::kCache);
    std::this_thread::sleep_for(3ms);
    clock.begin(Stage::kTrain);
    std::this_thread::sleep_for(3ms);
    clock.add();
    EXPECT_GE(clock.by_stage().at("cache"), attempt * 0.003);
    EXPECT_GE(clock.by_stage().at("train"), attempt * 0.003);
    EXPECT_DOUBLE_EQ(clock.total(), clock.by_stage().at("cache") + clock.by_stage().at("train"));
    EXPECT_EQ(files.load_seconds(), clock.by_stage());
  }
}

TEST(StageClock, BeforeAnyStageNothingIsCounted) {
  const TempFolder temp;
  const NightFiles files(temp / "");
  StageClock clock(files);
  clock.add();
  EXPECT_EQ(clock.total(), 0);
}

}  // namespace
}  // namespace moil::night
