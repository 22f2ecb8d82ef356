#include "engine/tensor/residency.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "engine/tensor/swap_windows.h"

namespace moil {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The gap behind use `gap` of a tensor; that behind the last is the one between iterations.
struct Cut {
  std::size_t life = 0, gap = 0;
};

// Decides which gaps are cut: swapped out behind a use and in before the next.
class Residency {
 public:
  Residency(const TensorPool& pool, int last_order, const SwapOptions& options,
            const std::map<TensorId, std::size_t>& counted_bytes)
      : pool_(pool), last_order_(last_order), options_(options) {
    for (std::size_t i = 0; i < pool.owners().size(); ++i) add_life(i, counted_bytes);
  }

  std::vector<Stay> run() {
    if (options_.mode != SwapMode::kOff) {
      if (options_.budget_bytes == 0 || options_.mode != SwapMode::kProactive)
        cut_all();
      else
        cut_to_budget();
    }
    std::vector<Stay> stays;
    for (const SwapLife& life : lives_) add_stays(life, stays);
    return stays;
  }

 private:
  void add_life(std::size_t i, const std::map<TensorId, std::size_t>& counted_bytes) {
    const TensorId owner = pool_.owners()[i];
    const auto counted = counted_bytes.find(owner);
    SwapLife life;
    life.owner = owner;
    life.bytes = counted == counted_bytes.end() ? pool_.requests()[i].bytes : counted->second;
    life.persistent = pool_.is_always(owner);
    life.uses = pool_.uses(owner);
    const TensorKind kind = pool_.spec(owner).kind;
    life.is_weight = kind == TensorKind::kWeight || kind == TensorKind::kStatistic ||
                     kind == TensorKind::kOptimizerState;
    // What lives always without known uses (packed weights) cannot leave.
    life.pinned = life.bytes < options_.smallest_bytes || life.uses.empty() ||
                  kind == TensorKind::kWorkspace || (life.persistent && kind == TensorKind::kSaved);
    life.gaps.resize(life.uses.size());
    for (std::size_t g = 0; g < life.gaps.size(); ++g) set_window(life, g);
    lives_.push_back(std::move(life));
  }

  void set_window(SwapLife& life, std::size_t g) const {
    const bool proactive = options_.mode == SwapMode::kProactive;
    life.gaps[g].tail = proactive ? 1 : 0;
    life.gaps[g].lookahead =
        !proactive ? 0 : (life.is_weight ? options_.weight_lookahead : options_.tensor_lookahead);
  }

  bool is_wrap(const SwapLife& life, std::size_t g) const { return g + 1 == life.uses.size(); }

  // The orders that a cut frees, as [begin, end); of the gap between iterations the part behind the
  // last use. Empty where the windows leave nothing.
  std::pair<int, int> freed(const SwapLife& life, std::size_t g) const {
    const SwapGap& gap = life.gaps[g];
    const int out = life.uses[g].order + gap.tail + 1;
    if (is_wrap(life, g)) return {std::min(out, last_order_ + 1), last_order_ + 1};
    return {out, std::max(out, life.uses[g + 1].order - gap.lookahead)};
  }
  int freed_before_first(const SwapLife& life) const {
    return std::max(0, life.uses.front().order - life.gaps.back().lookahead);
  }

  bool can_cut(const SwapLife& life, std::size_t g) const {
    if (life.pinned) return false;
    if (is_wrap(life, g)) return life.persistent;
    const int idle = life.uses[g + 1].order - life.uses[g].order - 1;
    if (options_.mode == SwapMode::kOnDemand) return true;
    if (options_.mode == SwapMode::kReduced) return idle > 0;
    const auto [begin, end] = freed(life, g);
    return begin < end;
  }

  void cut_all() {
    for (SwapLife& life : lives_) {
      bool any = false;
      for (std::size_t g = 0; g < life.gaps.size(); ++g) {
        if (is_wrap(life, g) || !can_cut(life, g)) continue;
        any = life.gaps[g].cut = true;
      }
      if (life.gaps.empty() || !can_cut(life, life.gaps.size() - 1)) continue;
      const auto [begin, end] = freed(life, life.gaps.size() - 1);
      life.gaps.back().cut = any || begin < end || freed_before_first(life) > 0;
    }
  }

  // The windows follow from what is cut, and what is cut from the windows: some rounds of both.
  // Where the budget is not met so, steps at the peak have to wait for their tensors.
  void cut_to_budget() {
    const bool timed = !options_.times.order_seconds.empty();
    for (int round = 0; round < (timed ? 3 : 1); ++round) {
      uncut();
      if (timed) choose_windows(options_.times, last_order_, round > 0, lives_);
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

  void uncut() {
    for (SwapLife& life : lives_) {
      for (SwapGap& gap : life.gaps) gap.cut = false;
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
        const bool spans = is_wrap(life, g)
                               ? exceeds(out, last_order_) || exceeds(0, life.uses[0].order - 1)
                               : exceeds(out, life.uses[g + 1].order - 1);
        if (spans) life.gaps[g].lookahead = life.gaps[g].tail = 0;
      }
    }
  }

  void mark_chosen() {
    for (SwapLife& life : lives_) {
      for (SwapGap& gap : life.gaps) gap.chosen = gap.cut;
    }
  }

  std::size_t bytes_of(const SwapLife& life) const { return aligned(life.bytes); }

  // Adds a life's bytes to, or takes them from, the orders at which it is in memory.
  void count(const SwapLife& life, std::vector<std::size_t>& live, bool add) const {
    const auto change = [&](int from, int until) {
      for (int o = std::max(0, from); o <= std::min(until, last_order_); ++o)
        live[at(o)] += add ? bytes_of(life) : std::size_t{0} - bytes_of(life);
    };
    std::vector<Stay> stays;
    add_stays(life, stays);
    for (const Stay& stay : stays) change(stay.from, stay.until);
  }

  std::vector<std::size_t> live_bytes() const {
    std::vector<std::size_t> live(at(last_order_) + 1, 0);
    for (const SwapLife& life : lives_) count(life, live, true);
    return live;
  }

  // Sets or clears a cut, with the one between iterations that it implies; the bytes it moves.
  std::size_t set_cut(SwapLife& life, std::size_t g, bool cut) const {
    const SwapTraffic before = traffic_of(life);
    life.gaps[g].cut = cut;
    if (life.persistent) {
      const bool inner = std::any_of(life.gaps.begin(), life.gaps.end() - 1,
                                     [](const SwapGap& gap) { return gap.cut; });
      if (inner) life.gaps.back().cut = true;
    }
    const SwapTraffic after = traffic_of(life);
    const auto moved = [](const SwapTraffic& t) { return t.read_bytes + t.written_bytes; };
    return moved(after) > moved(before) ? moved(after) - moved(before) : 0;
  }

  SwapTraffic traffic_of(const SwapLife& life) const {
    std::vector<Stay> stays;
    add_stays(life, stays);
    return traffic(pool_, stays);
  }

  std::size_t excess(const std::vector<std::size_t>& live) const {
    std::size_t sum = 0;
    for (const std::size_t bytes : live)
      sum += bytes > options_.budget_bytes ? bytes - options_.budget_bytes : 0;
    return sum;
  }

  // Again and again the cut that takes most off what exceeds the budget for the bytes it moves.
  void cut_greedily() {
    std::vector<std::size_t> live = live_bytes();
    std::vector<Cut> open;
    for (std::size_t l = 0; l < lives_.size(); ++l) {
      for (std::size_t g = 0; g < lives_[l].gaps.size(); ++g) {
        if (can_cut(lives_[l], g)) open.push_back({l, g});
      }
    }
    while (excess(live) > 0) {
      double best_gain = 0;
      Cut best;
      for (const Cut& cut : open) {
        const double gain = gain_of(cut, live);
        if (gain > best_gain) best_gain = gain, best = cut;
      }
      if (best_gain == 0) return;
      count(lives_[best.life], live, false);
      set_cut(lives_[best.life], best.gap, true);
      count(lives_[best.life], live, true);
    }
  }

  double gain_of(const Cut& cut, std::vector<std::size_t>& live) {
    SwapLife& life = lives_[cut.life];
    if (life.gaps[cut.gap].cut) return 0;
    const auto kept = life.gaps;
    const std::size_t before = excess(live);
    count(life, live, false);
    const std::size_t moved = set_cut(life, cut.gap, true);
    count(life, live, true);
    const std::size_t after = excess(live);
    count(life, live, false);
    life.gaps = kept;
    count(life, live, true);
    if (after >= before) return 0;
    return static_cast<double>(before - after) /
           static_cast<double>(std::max<std::size_t>(moved, 1));
  }

  // What later cuts made superfluous is taken back, the largest first.
  void drop_needless_cuts() {
    std::vector<Cut> cuts;
    for (std::size_t l = 0; l < lives_.size(); ++l) {
      for (std::size_t g = 0; g < lives_[l].gaps.size(); ++g) {
        if (lives_[l].gaps[g].cut) cuts.push_back({l, g});
      }
    }
    std::stable_sort(cuts.begin(), cuts.end(), [this](const Cut& a, const Cut& b) {
      return lives_[a.life].bytes > lives_[b.life].bytes;
    });
    std::vector<std::size_t> live = live_bytes();
    for (const Cut& cut : cuts) {
      SwapLife& life = lives_[cut.life];
      const auto kept = life.gaps;
      const std::size_t before = excess(live);
      count(life, live, false);
      set_cut(life, cut.gap, false);
      count(life, live, true);
      if (excess(live) <= before) continue;
      count(life, live, false);
      life.gaps = kept;
      count(life, live, true);
    }
  }

  void add_stays(const SwapLife& life, std::vector<Stay>& stays) const {
    if (life.uses.empty() || (life.persistent && !life.gaps.back().cut)) {
      stays.push_back({life.owner, 0, last_order_, 0, last_order_, false, false});
      return;
    }
    // At rest an always-living tensor is in the file.
    bool on_file = life.persistent, arrives = life.persistent, writes = false;
    std::size_t begin = 0;
    for (std::size_t u = 0; u < life.uses.size(); ++u) {
      writes = writes || life.uses[u].access == Access::kWrite;
      const bool leaves = life.gaps[u].cut;
      if (!leaves && !is_wrap(life, u)) continue;
      Stay stay{life.owner, life.uses[begin].order, life.uses[u].order, 0, 0, arrives, false};
      stay.stores = leaves && (writes || !on_file);
      const std::size_t before = begin == 0 ? life.gaps.size() - 1 : begin - 1;
      stay.from = arrives ? std::max(0, stay.first - life.gaps[before].lookahead) : stay.first;
      stay.until = stay.stores ? std::min(last_order_, stay.last + life.gaps[u].tail) : stay.last;
      stays.push_back(stay);
      on_file = stay.stores || (on_file && !writes);
      arrives = leaves;
      writes = false;
      begin = u + 1;
    }
  }

  static constexpr int kMostSqueezes = 4;

  const TensorPool& pool_;
  const int last_order_;
  const SwapOptions& options_;
  std::vector<SwapLife> lives_;
};

// Large enough that whole kSwapAlignments cost nothing.
constexpr std::size_t kLarge = 64 * 1024;

// Of each stay, whether it lies among those that are aligned for transfers.
std::vector<bool> aligned_for_swap(const TensorPool& pool, const std::vector<Stay>& stays) {
  std::vector<bool> aligned(stays.size(), false);
  if (!any_swapped(stays)) return aligned;
  for (std::size_t s = 0; s < stays.size(); ++s)
    aligned[s] = stays[s].swapped() || pool.spec(stays[s].owner).info.bytes() >= kLarge;
  return aligned;
}

MemoryPlan smaller_plan(std::span<const MemoryRequest> requests, const std::vector<bool>& filler) {
  MemoryPlan together = plan_memory(requests);
  MemoryPlan apart = plan_memory_with_fillers(requests, filler);
  return apart.total_bytes <= together.total_bytes ? apart : together;
}

}  // namespace

const char* to_string(SwapMode mode) {
  switch (mode) {
    case SwapMode::kOff:
      return "off";
    case SwapMode::kOnDemand:
      return "on_demand";
    case SwapMode::kReduced:
      return "reduced";
    case SwapMode::kProactive:
      return "proactive";
  }
  return "?";
}

SwapMode swap_mode(std::string_view name) {
  for (const SwapMode mode :
       {SwapMode::kOff, SwapMode::kOnDemand, SwapMode::kReduced, SwapMode::kProactive}) {
    if (name == to_string(mode)) return mode;
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown swap mode \"" + std::string(name) +
                                               "\": expected off, on_demand, reduced or proactive");
}

std::vector<Stay> plan_stays(const TensorPool& pool, int last_order, const SwapOptions& options,
                             const std::map<TensorId, std::size_t>& counted_bytes) {
  return Residency(pool, last_order, options, counted_bytes).run();
}

bool any_swapped(const std::vector<Stay>& stays) {
  return std::any_of(stays.begin(), stays.end(), [](const Stay& s) { return s.swapped(); });
}

SwapTraffic traffic(const TensorPool& pool, const std::vector<Stay>& stays) {
  SwapTraffic sum;
  for (const Stay& stay : stays) {
    const std::size_t bytes = swap_aligned(pool.spec(stay.owner).info.bytes());
    sum.transfers += (stay.loads ? 1u : 0u) + (stay.stores ? 1u : 0u);
    if (stay.loads) sum.read_bytes += bytes;
    if (stay.stores) sum.written_bytes += bytes;
  }
  return sum;
}

std::vector<MemoryRequest> memory_requests(const TensorPool& pool, const std::vector<Stay>& stays) {
  const std::vector<bool> aligned = aligned_for_swap(pool, stays);
  std::vector<MemoryRequest> requests;
  for (std::size_t s = 0; s < stays.size(); ++s) {
    const std::size_t bytes = pool.spec(stays[s].owner).info.bytes();
    requests.push_back({aligned[s] ? swap_aligned(bytes) : bytes, stays[s].from, stays[s].until});
  }
  return requests;
}

std::vector<bool> workspaces(const TensorPool& pool, const std::vector<Stay>& stays) {
  std::vector<bool> filler;
  for (const Stay& stay : stays)
    filler.push_back(pool.spec(stay.owner).kind == TensorKind::kWorkspace);
  return filler;
}

MemoryPlan plan_residency(const TensorPool& pool, const std::vector<Stay>& stays) {
  const std::vector<MemoryRequest> requests = memory_requests(pool, stays);
  const std::vector<bool> filler = workspaces(pool, stays);
  if (!any_swapped(stays)) return smaller_plan(requests, filler);
  const std::vector<bool> aligned = aligned_for_swap(pool, stays);
  MemoryPlan plan{std::vector<std::size_t>(requests.size()), 0};
  for (const bool large : {true, false}) {
    std::vector<MemoryRequest> part;
    std::vector<bool> part_filler;
    std::vector<std::size_t> index;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (aligned[i] != large) continue;
      part.push_back(requests[i]);
      part_filler.push_back(filler[i]);
      index.push_back(i);
    }
    const MemoryPlan placed = smaller_plan(part, part_filler);
    for (std::size_t i = 0; i < index.size(); ++i)
      plan.offsets[index[i]] = plan.total_bytes + placed.offsets[i];
    plan.total_bytes += placed.total_bytes;
  }
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (stays[i].swapped() && plan.offsets[i] % kSwapAlignment != 0)
      throw Error(ErrorCode::kInternal, "a swapped tensor is not aligned");
  }
  return plan;
}

}  // namespace moil
