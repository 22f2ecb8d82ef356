#include "engine/elastic/elastic_interval.h"

namespace moil {

std::int64_t end_epoch(const std::vector<ElasticInterval>& intervals) {
  return intervals.empty() ? 0 : intervals.back().epoch + intervals.back().epochs;
}

double used_epochs(const std::vector<ElasticInterval>& intervals) {
  double used = 0;
  for (const ElasticInterval& i : intervals) used += i.share * static_cast<double>(i.epochs);
  return used;
}

double schedule_end(const std::vector<ElasticInterval>& so_far, const ElasticInterval& next,
                    std::int64_t total_epochs, double speedup_ratio) {
  if (next.epoch + next.epochs >= total_epochs) return 1;
  const double begun = so_far.empty() ? 0 : so_far.back().schedule_end;
  const double left = speedup_ratio * static_cast<double>(total_epochs) - used_epochs(so_far);
  const double here = next.share * static_cast<double>(next.epochs);
  return here < left ? begun + (1 - begun) * here / left : 1;
}

ScheduleSpan span_of_last(const std::vector<ElasticInterval>& intervals,
                          std::int64_t steps_of_epoch) {
  const ElasticInterval& last = intervals.back();
  return {.begin = intervals.size() == 1 ? 0 : intervals[intervals.size() - 2].schedule_end,
          .end = last.schedule_end,
          .first_step = last.first_step,
          .steps = last.epochs * steps_of_epoch};
}

}  // namespace moil
