// The seconds of each stage, of all attempts of a night together, kept in the job's folder
// (seconds.json).
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "daemon/night/stages/night_files.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::night {

class StageClock {
 public:
  // files: outlive it.
  explicit StageClock(const NightFiles& files) : files_(files), seconds_(files.load_seconds()) {}

  void begin(daemon::Stage stage);
  // Adds the time since begin() or the last add() and keeps it.
  void add();
  double total() const;
  const std::map<std::string, double>& by_stage() const { return seconds_; }

 private:
  const NightFiles& files_;
  std::map<std::string, double> seconds_;
  std::string stage_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace moil::night
