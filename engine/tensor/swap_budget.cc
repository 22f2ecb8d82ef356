#include "engine/tensor/swap_budget.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "base/index.h"
#include "engine/tensor/swap_windows.h"

namespace moil {
namespace {

constexpr int kMostSqueezes = 4;

// The gap behind use `gap` of a tensor; that behind the last is the one between iterations.
struct Cut {
  std::size_t life = 0, gap = 0;
};

// Bytes in memory by order, and what exceeds the budget, of all orders together.
class LiveBytes {
 public:
  LiveBytes(const Iteration& iteration, std::size_t budget)
      : iteration_(iteration), budget_(budget), bytes_(at(iteration.last_order) + 1, 0) {}

  // Adds a life's bytes to, or takes them from, the orders at which it is in memory.
  void count(const SwapLife& life, bool add) {
    const std::size_t bytes = aligned(life.bytes);
    for (const Stay& stay : stays_of(life, iteration_)) {
      for (int o = stay.from; o <= stay.until; ++o) {
        std::size_t& live = bytes_[at(o)];
        excess_ -= over(live);
        live += add ? bytes : std::size_t{0} - bytes;
        excess_ += over(live);
      }
    }
  }
  std::size_t excess() const { return excess_; }
  // What a tensor of so many bytes takes off it that stays in memory as in `after`, which is within
  // `before`.
  std::size_t relief(std::size_t life_bytes, const std::vector<Stay>& before,
                     const std::vector<Stay>& after) const {
    const std::size_t bytes = aligned(life_bytes);
    std::size_t sum = 0;
    auto next = after.begin();
    for (const Stay& stay : before) {
      for (int o = stay.from; o <= stay.until; ++o) {
        while (next != after.end() && next->until < o) ++next;
        if (next != after.end() && next->from <= o)
          o = std::min(next->until, stay.until);
        else
          sum += std::min(bytes, over(bytes_[at(o)]));
      }
    }
    return sum;
  }
  const std::vector<std::size_t>& bytes() const { return bytes_; }

 private:
  std::size_t over(std::size_t live) const { return live > budget_ ? live - budget_ : 0; }

  const Iteration& iteration_;
  const std::size_t budget_;
  std::vector<std::size_t> bytes_;
  std::size_t excess_ = 0;
};

class SwapBudget {
 public:
  SwapBudget(const SwapOptions& options, const Iteration& iteration, std::vector<SwapLife>& lives)
      : options_(options),
        iteration_(iteration),
        last_order_(iteration.last_order),
        lives_(lives) {}

  // The windows follow from what is cut, and what is cut from the windows: some rounds of both.
  void cut() {
    const bool timed = !options_.times.order_seconds.empty();
    for (int round = 0; round < (timed ? 3 : 1); ++round) {
      uncut();
      if (timed) choose_windows(options_.times, last_order_, round > 0, kTransferSlack, lives_);
      cut_greedily();
      drop_needless_cuts();
      mark_chosen();
    }
    for (int squeeze = 0; squeeze < kMostSqueezes && live_bytes().excess() > 0; ++squeeze) {
      close_windows_at_excess();
      cut_greedily();
      drop_needless_cuts();
    }
  }

  void widen(double slack) {
    if (options_.times.order_seconds.empty()) return;
    mark_chosen();
    std::vector<SwapLife> wished = lives_;
    choose_windows(options_.times, last_order_, /*queued=*/true, slack, wished);
    LiveBytes live = live_bytes();
    const std::vector<std::size_t>& bytes = live.bytes();
    const std::size_t most =
        std::max(options_.budget_bytes, *std::max_element(bytes.begin(), bytes.end()));
    const auto fits = [&] {
      return std::all_of(bytes.begin(), bytes.end(), [&](std::size_t b) { return b <= most; });
    };
    std::vector<Cut> open = made_cuts();
    while (!open.empty()) {
      std::erase_if(open, [&](const Cut& cut) {
        SwapLife& life = lives_[cut.life];
        const SwapGap& wish = wished[cut.life].gaps[cut.gap];
        bool grew = false;
        for (int SwapGap::*window : {&SwapGap::tail, &SwapGap::lookahead}) {
          if (life.gaps[cut.gap].*window >= wish.*window || !has_free_orders(life, cut.gap))
            continue;
          grew |= change_if(
              life, live, [&] { ++(life.gaps[cut.gap].*window); }, fits);
        }
        return !grew;
      });
    }
  }

 private:
  void uncut() {
    for (SwapLife& life : lives_) {
      for (SwapGap& gap : life.gaps) gap.cut = false;
    }
  }

  void mark_chosen() {
    for (SwapLife& life : lives_) {
      for (SwapGap& gap : life.gaps) gap.chosen = gap.cut;
    }
  }

  LiveBytes live_bytes() const {
    LiveBytes live(iteration_, options_.budget_bytes);
    for (const SwapLife& life : lives_) live.count(life, true);
    return live;
  }

  std::vector<Cut> cuts_where(const auto& condition) const {
    std::vector<Cut> cuts;
    for (std::size_t l = 0; l < lives_.size(); ++l) {
      for (std::size_t g = 0; g < lives_[l].gaps.size(); ++g) {
        if (condition(lives_[l], g)) cuts.push_back({l, g});
      }
    }
    return cuts;
  }

  std::vector<Cut> made_cuts() const {
    return cuts_where([](const SwapLife& life, std::size_t g) { return life.gaps[g].cut; });
  }

  // Changes a life's gaps and keeps the change if `accept` says so of the live bytes that it
  // leaves, which `live` then holds.
  static bool change_if(SwapLife& life, LiveBytes& live, const auto& change, const auto& accept) {
    const auto kept = life.gaps;
    live.count(life, false);
    change();
    live.count(life, true);
    if (accept()) return true;
    live.count(life, false);
    life.gaps = kept;
    live.count(life, true);
    return false;
  }

  // Again and again the cut that takes most off what exceeds the budget for the bytes it moves; of
  // several the first. Other tensors' cuts only lessen what one takes off: a gain found before is
  // the most that it can be now, until the tensor's own cuts change.
  void cut_greedily() {
    LiveBytes live = live_bytes();
    const std::vector<Cut> open = cuts_where(
        [](const SwapLife& life, std::size_t g) { return can_cut(life, g, SwapMode::kProactive); });
    using Gain = std::tuple<double, std::ptrdiff_t>;  // and the index in `open`, negated
    std::priority_queue<Gain> most;
    std::vector<double> gains(open.size());
    const auto find = [&](std::size_t c) {
      gains[c] = gain_of(open[c], live);
      if (gains[c] > 0) most.emplace(gains[c], -static_cast<std::ptrdiff_t>(c));
    };
    for (std::size_t c = 0; c < open.size(); ++c) find(c);
    while (live.excess() > 0 && !most.empty()) {
      const auto [gain, index] = most.top();
      const auto best = static_cast<std::size_t>(-index);
      most.pop();
      if (gain != gains[best]) continue;  // found again since
      if (gain_of(open[best], live) != gain) {
        find(best);
        continue;
      }
      SwapLife& life = lives_[open[best].life];
      change_if(
          life, live, [&] { set_cut(life, open[best].gap, true); }, [] { return true; });
      for (std::size_t c = 0; c < open.size(); ++c)
        if (open[c].life == open[best].life) find(c);
    }
  }

  // Bytes off the excess for each byte moved.
  double gain_of(const Cut& cut, const LiveBytes& live) const {
    SwapLife& life = lives_[cut.life];
    if (life.gaps[cut.gap].cut) return 0;
    const std::vector<SwapGap> kept = life.gaps;
    const std::vector<Stay> before = stays_of(life, iteration_);
    const std::size_t moved_before = moved_bytes(life, iteration_);
    set_cut(life, cut.gap, true);
    const std::size_t relief = live.relief(life.bytes, before, stays_of(life, iteration_));
    const std::size_t moved = moved_bytes(life, iteration_);
    life.gaps = kept;
    return static_cast<double>(relief) /
           static_cast<double>(moved > moved_before ? moved - moved_before : 1);
  }

  // What later cuts made superfluous is taken back, the largest first.
  void drop_needless_cuts() {
    std::vector<Cut> cuts = made_cuts();
    std::stable_sort(cuts.begin(), cuts.end(), [this](const Cut& a, const Cut& b) {
      return lives_[a.life].bytes > lives_[b.life].bytes;
    });
    LiveBytes live = live_bytes();
    for (const Cut& cut : cuts) {
      SwapLife& life = lives_[cut.life];
      const std::size_t before = live.excess();
      change_if(
          life, live, [&] { set_cut(life, cut.gap, false); },
          [&] { return live.excess() <= before; });
    }
  }

  // Gaps that span an order above the budget get no lookahead and no tail.
  void close_windows_at_excess() {
    const LiveBytes live = live_bytes();
    const auto exceeds = [&](int from, int to) {
      for (int o = std::max(0, from); o <= std::min(to, last_order_); ++o)
        if (live.bytes()[at(o)] > options_.budget_bytes) return true;
      return false;
    };
    for (SwapLife& life : lives_) {
      for (std::size_t g = 0; g < life.gaps.size(); ++g) {
        const int out = life.uses[g].order + 1;
        const bool spans = life.is_wrap(g)
                               ? exceeds(out, last_order_) || exceeds(0, life.next_use(g) - 1)
                               : exceeds(out, life.next_use(g) - 1);
        if (spans) life.gaps[g].lookahead = life.gaps[g].tail = 0;
      }
    }
  }

  // Whether a cut's windows leave more than one order at which the tensor is not in memory.
  bool has_free_orders(const SwapLife& life, std::size_t g) const {
    const SwapGap& gap = life.gaps[g];
    if (life.is_wrap(g))
      return life.uses[g].order + gap.tail < last_order_ || gap.lookahead < life.next_use(g);
    return life.uses[g].order + gap.tail + 2 < life.next_use(g) - gap.lookahead;
  }

  const SwapOptions& options_;
  const Iteration& iteration_;
  const int last_order_;
  std::vector<SwapLife>& lives_;
};

}  // namespace

void cut_to_budget(const SwapOptions& options, const Iteration& iteration,
                   std::vector<SwapLife>& lives) {
  SwapBudget(options, iteration, lives).cut();
}

void widen_windows(const SwapOptions& options, const Iteration& iteration, double slack,
                   std::vector<SwapLife>& lives) {
  SwapBudget(options, iteration, lives).widen(slack);
}

}  // namespace moil
