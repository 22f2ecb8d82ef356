// How far a copy of many bytes is, told some times a second, with the time that is left.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace moil::backup {

class Pace {
 public:
  using Tell = std::function<void(std::uint64_t done, std::uint64_t total,
                                  std::optional<double> seconds_left)>;
  Pace(std::uint64_t total, Tell tell);
  void add(std::uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;

  const std::uint64_t total_;
  const Tell tell_;
  const Clock::time_point begin_ = Clock::now();
  std::uint64_t done_ = 0;
  Clock::time_point told_;
};

}  // namespace moil::backup
