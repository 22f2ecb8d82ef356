#include "engine/elastic/interval_schedule.h"

#include <algorithm>

namespace moil {

bool IntervalSchedule::begins_at(std::int64_t epoch,
                                 const std::vector<ElasticInterval>& so_far) const {
  return so_far.empty() || epoch >= end_of(so_far.back().epoch);
}

std::int64_t IntervalSchedule::end_of(std::int64_t epoch) const {
  return std::min(total_epochs_, (epoch / interval_epochs_ + 1) * interval_epochs_);
}

std::int64_t IntervalSchedule::epochs_from(std::int64_t first_epoch) const {
  return end_of(first_epoch) - first_epoch;
}

double IntervalSchedule::used(const std::vector<ElasticInterval>& so_far) const {
  double used = 0;
  for (const ElasticInterval& i : so_far)
    used += i.share * static_cast<double>(epochs_from(i.epoch));
  return used;
}

double IntervalSchedule::schedule_end(const std::vector<ElasticInterval>& so_far,
                                      const ElasticInterval& next) const {
  if (end_of(next.epoch) >= total_epochs_) return 1;
  const double begun = so_far.empty() ? 0 : so_far.back().schedule_end;
  const double left = speedup_ratio_ * static_cast<double>(total_epochs_) - used(so_far);
  const double here = next.share * static_cast<double>(epochs_from(next.epoch));
  return here < left ? begun + (1 - begun) * here / left : 1;
}

ScheduleSpan IntervalSchedule::span_of_last(const std::vector<ElasticInterval>& so_far,
                                            std::int64_t steps_of_epoch) const {
  const ElasticInterval& last = so_far.back();
  return {.begin = so_far.size() == 1 ? 0 : so_far[so_far.size() - 2].schedule_end,
          .end = last.schedule_end,
          .first_step = last.first_step,
          .steps = epochs_from(last.epoch) * steps_of_epoch};
}

}  // namespace moil
