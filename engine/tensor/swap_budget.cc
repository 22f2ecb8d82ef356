#include "engine/tensor/swap_budget.h"

#include <algorithm>

#include "base/index.h"
#include "engine/tensor/swap_windows.h"

namespace moil {
namespace {

constexpr int kMostSqueezes = 4;

// The gap behind use `gap` of a tensor; that behind the last is the one between iterations.
struct Cut {
  std::size_t life = 0, gap = 0;
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
    for (int squeeze = 0; squeeze < kMostSqueezes && excess(live_bytes()) > 0; ++squeeze) {
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
    std::vector<std::size_t> live = live_bytes();
    const std::size_t most =
        std::max(options_.budget_bytes, *std::max_element(live.begin(), live.end()));
    const auto fits = [&] {
      return std::all_of(live.begin(), live.end(), [&](std::size_t b) { return b <= most; });
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

  // Adds a life's bytes to, or takes them from, the orders at which it is in memory.
  void count(const SwapLife& life, std::vector<std::size_t>& live, bool add) const {
    const std::size_t bytes = aligned(life.bytes);
    for (const Stay& stay : stays_of(life, iteration_)) {
      for (int o = stay.from; o <= stay.until; ++o)
        live[at(o)] += add ? bytes : std::size_t{0} - bytes;
    }
  }

  std::vector<std::size_t> live_bytes() const {
    std::vector<std::size_t> live(at(last_order_) + 1, 0);
    for (const SwapLife& life : lives_) count(life, live, true);
    return live;
  }

  std::size_t excess(const std::vector<std::size_t>& live) const {
    std::size_t sum = 0;
    for (const std::size_t bytes : live)
      sum += bytes > options_.budget_bytes ? bytes - options_.budget_bytes : 0;
    return sum;
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
  bool change_if(SwapLife& life, std::vector<std::size_t>& live, const auto& change,
                 const auto& accept) const {
    const auto kept = life.gaps;
    count(life, live, false);
    change();
    count(life, live, true);
    if (accept()) return true;
    count(life, live, false);
    life.gaps = kept;
    count(life, live, true);
    return false;
  }

  // Again and again the cut that takes most off what exceeds the budget for the bytes it moves.
  void cut_greedily() {
    std::vector<std::size_t> live = live_bytes();
    const std::vector<Cut> open = cuts_where(
        [](const SwapLife& life, std::size_t g) { return can_cut(life, g, SwapMode::kProactive); });
    while (excess(live) > 0) {
      double best_gain = 0;
      Cut best;
      for (const Cut& cut : open) {
        const double gain = gain_of(cut, live);
        if (gain > best_gain) best_gain = gain, best = cut;
      }
      if (best_gain == 0) return;
      SwapLife& life = lives_[best.life];
      change_if(
          life, live, [&] { set_cut(life, best.gap, true); }, [] { return true; });
    }
  }

  // Bytes off the excess for each byte moved.
  double gain_of(const Cut& cut, std::vector<std::size_t>& live) const {
    SwapLife& life = lives_[cut.life];
    if (life.gaps[cut.gap].cut) return 0;
    const std::size_t before = excess(live), moved_before = moved_bytes(life, iteration_);
    double gain = 0;
    change_if(
        life, live, [&] { set_cut(life, cut.gap, true); },
        [&] {
          const std::size_t after = excess(live), moved = moved_bytes(life, iteration_);
          if (after < before) {
            gain = static_cast<double>(before - after) /
                   static_cast<double>(moved > moved_before ? moved - moved_before : 1);
          }
          return false;
        });
    return gain;
  }

  // What later cuts made superfluous is taken back, the largest first.
  void drop_needless_cuts() {
    std::vector<Cut> cuts = made_cuts();
    std::stable_sort(cuts.begin(), cuts.end(), [this](const Cut& a, const Cut& b) {
      return lives_[a.life].bytes > lives_[b.life].bytes;
    });
    std::vector<std::size_t> live = live_bytes();
    for (const Cut& cut : cuts) {
      SwapLife& life = lives_[cut.life];
      const std::size_t before = excess(live);
      change_if(
          life, live, [&] { set_cut(life, cut.gap, false); },
          [&] { return excess(live) <= before; });
    }
  }

  // Gaps that span an order above the budget get no lookahead and no tail.
  void close_windows_at_excess() {
    const std::vector<std::size_t> live = live_bytes();
    const auto exceeds = [&](int from, int to) {
      for (int o = std::max(0, from); o <= std::min(to, last_order_); ++o)
        if (live[at(o)] > options_.budget_bytes) return true;
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
