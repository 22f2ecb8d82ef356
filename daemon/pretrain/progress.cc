#include "daemon/pretrain/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "base/seconds.h"

namespace moil::pretrain {
namespace {

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  return text;
}

// Nothing that rounds to no second.
std::string left_text(double seconds) {
  return seconds < 0.5 ? "" : "  " + seconds_text(std::round(seconds)) + " left";
}

}  // namespace

std::string quality_text(const std::optional<double>& quality, const Metric& metric) {
  if (!quality) return "not measured";
  char text[32];
  if (metric.is_fraction)
    std::snprintf(text, sizeof text, "%5.1f %%", 100 * *quality);
  else
    std::snprintf(text, sizeof text, "%6.3f", *quality);
  return text;
}

Progress::Progress() : tty_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show_epoch(const EpochReport& r) const {
  const double left =
      r.seconds / static_cast<double>(r.epoch) * static_cast<double>(r.epochs - r.epoch);
  std::fprintf(stderr, "%sepoch %lld/%lld  loss %.4f  held-out %s %s%s%s", tty_ ? "\r\033[K" : "",
               static_cast<long long>(r.epoch), static_cast<long long>(r.epochs), r.loss,
               r.metric.name.c_str(), quality_text(r.quality, r.metric).c_str(),
               left_text(left).c_str(), tty_ && r.epoch < r.epochs ? "" : "\n");
}

void Progress::show_features(std::int64_t done, std::int64_t all) {
  frozen_ = seconds_since(start_);
  if (tty_ || done == all)
    std::fprintf(stderr, "%sfrozen layers: %lld of %lld feature maps%s", tty_ ? "\r\033[K" : "",
                 static_cast<long long>(done), static_cast<long long>(all),
                 tty_ && done < all ? "" : "\n");
}

std::string Progress::took() const {
  const std::string all = seconds_text(seconds_since(start_));
  return frozen_ > 0 ? all + ", of which frozen layers " + seconds_text(frozen_) : all;
}

}  // namespace moil::pretrain
