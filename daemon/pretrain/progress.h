// What moil-pretrain shows of its work on stderr, and how long the parts of it took. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "daemon/pretrain/pretraining.h"

namespace moil::pretrain {

// " 97.0 %" or " 0.458", as the metric is; "not measured".
[[nodiscard]] std::string quality_text(const std::optional<double>& quality, const Metric& metric);

class Progress {
 public:
  Progress();
  void show_epoch(const EpochReport& report) const;
  void show_features(std::int64_t done, std::int64_t all);
  // "46 s, of which frozen layers 45 s"
  [[nodiscard]] std::string took() const;

 private:
  const bool tty_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double frozen_ = 0;  // seconds
};

}  // namespace moil::pretrain
