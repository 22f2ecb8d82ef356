#include "engine/tensor/swap_windows.h"

#include <algorithm>

#include "base/index.h"

namespace moil {
namespace {

// When each order begins, in seconds from the iteration's start; the end at the back.
class OrderClock {
 public:
  OrderClock(const SwapTimes& times, int last_order) : start_(at(last_order) + 2, 0) {
    for (std::size_t o = 0; o + 1 < start_.size(); ++o)
      start_[o + 1] = start_[o] + (o < times.order_seconds.size() ? times.order_seconds[o] : 0.0);
  }
  double start(int order) const {
    return start_[at(std::clamp(order, 0, static_cast<int>(start_.size()) - 1))];
  }
  double end() const { return start_.back(); }
  // The order that runs at a time.
  int order_at(double seconds) const {
    const auto it = std::upper_bound(start_.begin(), start_.end() - 1, seconds);
    return std::max(0, static_cast<int>(it - start_.begin()) - 1);
  }

 private:
  std::vector<double> start_;
};

struct SwapTransfer {
  SwapGap* gap;
  int use;         // the order that it precedes (load) or follows (store)
  double seconds;  // that it takes
  bool queues;
};

// Loads as late as they may be; those that queue end before the next of them begins.
void set_lookaheads(const OrderClock& clock, std::vector<SwapTransfer>& loads) {
  std::stable_sort(loads.begin(), loads.end(),
                   [](const SwapTransfer& a, const SwapTransfer& b) { return a.use > b.use; });
  double next = clock.end();
  for (SwapTransfer& t : loads) {
    const double end = t.queues ? std::min(next, clock.start(t.use)) : clock.start(t.use);
    const double begin = end - t.seconds;
    t.gap->lookahead = std::max(1, t.use - clock.order_at(std::max(begin, 0.0)));
    if (t.queues) next = begin;
  }
}

void set_tails(const OrderClock& clock, std::vector<SwapTransfer>& stores) {
  std::stable_sort(stores.begin(), stores.end(),
                   [](const SwapTransfer& a, const SwapTransfer& b) { return a.use < b.use; });
  double before = 0;
  for (SwapTransfer& t : stores) {
    const double begin =
        t.queues ? std::max(before, clock.start(t.use + 1)) : clock.start(t.use + 1);
    const double end = begin + t.seconds;
    t.gap->tail = std::max(1, clock.order_at(end) - t.use);
    if (t.queues) before = end;
  }
}

}  // namespace

void choose_windows(const SwapTimes& times, int last_order, bool queued, double slack,
                    std::vector<SwapLife>& lives) {
  const OrderClock clock(times, last_order);
  std::vector<SwapTransfer> loads, stores;
  for (SwapLife& life : lives) {
    const auto bytes = static_cast<double>(life.bytes);
    for (std::size_t g = 0; g < life.gaps.size(); ++g) {
      SwapGap& gap = life.gaps[g];
      const int next = life.uses[g + 1 < life.uses.size() ? g + 1 : 0].order;
      const bool queues = queued && gap.chosen;
      loads.push_back({&gap, next, slack * bytes / times.read_bytes_per_second, queues});
      stores.push_back(
          {&gap, life.uses[g].order, slack * bytes / times.write_bytes_per_second, queues});
    }
  }
  set_lookaheads(clock, loads);
  set_tails(clock, stores);
}

}  // namespace moil
