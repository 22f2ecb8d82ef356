#include "daemon/night/stages/stage_clock.h"

#include "base/seconds.h"

namespace moil::night {

void StageClock::begin(daemon::Stage stage) {
  add();
  stage_ = daemon::to_string(stage);
}

void StageClock::add() {
  const auto now = std::chrono::steady_clock::now();
  if (!stage_.empty()) {
    seconds_[stage_] += std::chrono::duration<double>(now - start_).count();
    files_.save_seconds(seconds_);
  }
  start_ = now;
}

double StageClock::total() const {
  double sum = 0;
  for (const auto& [stage, seconds] : seconds_) sum += seconds;
  return sum;
}

}  // namespace moil::night
