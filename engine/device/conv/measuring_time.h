// How long kernels may be tried out, and how long they were: for all selectors that share it.
//
// By the clock on the wall: a process that others starve must not go on for minutes. Not
// thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace moil {

class MeasuringTime {
 public:
  // report: called with seconds() after each choice that was measured.
  explicit MeasuringTime(double limit_seconds, std::function<void(double seconds)> report = {})
      : limit_(limit_seconds), report_(std::move(report)) {}

  // From here on, in place of who was told before.
  void report_to(std::function<void(double seconds)> report) { report_ = std::move(report); }

  // From here to the end of its life, time passes.
  class Running {
   public:
    explicit Running(MeasuringTime* time) : time_(time) {
      if (time_) time_->started_ = Clock::now();
    }
    ~Running() {
      if (!time_) return;
      time_->spent_ = time_->seconds();
      time_->started_.reset();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    MeasuringTime* time_;
  };

  double limit() const { return limit_; }
  double seconds() const {
    if (!started_) return spent_;
    return spent_ + std::chrono::duration<double>(Clock::now() - *started_).count();
  }
  bool is_over() const { return seconds() >= limit_; }

  // Choices: those that were measured, and those for which there was no time.
  int measured() const { return measured_; }
  int untried() const { return untried_; }
  void count(bool measured) {
    ++(measured ? measured_ : untried_);
    if (measured && report_) report_(seconds());
  }

 private:
  using Clock = std::chrono::steady_clock;

  double limit_;
  std::function<void(double)> report_;
  double spent_ = 0;
  std::optional<Clock::time_point> started_;
  int measured_ = 0, untried_ = 0;
};

}  // namespace moil
