#include "engine/elastic/tensor_selector.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/error.h"

namespace moil {
namespace {

void require(bool holds, std::size_t entry, const char* what) {
  if (!holds)
    throw Error(ErrorCode::kInvalidArgument,
                "tensor selector: entry " + std::to_string(entry) + ": " + what);
}

void check(std::span<const ElasticEntry> entries, double seconds, const SelectorOptions& options) {
  if (!(seconds >= 0) || !std::isfinite(seconds))
    throw Error(ErrorCode::kInvalidArgument, "tensor selector: the time must be at least 0");
  if (options.resolution < 1)
    throw Error(ErrorCode::kInvalidArgument, "tensor selector: the resolution must be at least 1");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ElasticEntry& e = entries[i];
    for (const double time : {e.update_seconds, e.deepest_seconds, e.pass_seconds})
      require(time >= 0 && std::isfinite(time), i, "a time must be at least 0");
    require(!std::isnan(e.importance), i, "the importance is not a number");
  }
}

// Bit i is byte i, each 0 or 1.
std::uint64_t packed(const std::uint8_t (&bytes)[64]) {
  std::uint64_t bits = 0;
  for (int group = 0; group < 8; ++group) {
    std::uint64_t eight = 0;
    for (int i = 0; i < 8; ++i) eight |= std::uint64_t{bytes[8 * group + i]} << (8 * i);
    bits |= eight * 0x0102040810204080 >> 56 << (8 * group);
  }
  return bits;
}

// next = the better of without and with + value, for up to 64 capacities; which is it, as bits.
std::uint64_t decide(const double* without, const double* with, double value, std::size_t count,
                     double* next) {
  std::uint8_t take[64] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const double sum = with[i] + value;
    take[i] = sum > without[i];
    next[i] = std::max(sum, without[i]);
  }
  return packed(take);
}

// 0/1 knapsack that items are added to one by one. What was decided for each item and capacity is
// kept as a bit: the items behind a value are found again from the last one on.
class Knapsack {
 public:
  explicit Knapsack(int capacity)
      : best_(static_cast<std::size_t>(capacity) + 1, 0.0), next_(best_) {}

  double best(int capacity) const { return best_[static_cast<std::size_t>(capacity)]; }

  // From now on no capacity above `most` is asked for; it never rises.
  void add(std::size_t entry, int cost, double value, int most) {
    const std::size_t end = static_cast<std::size_t>(most) + 1;
    const std::size_t shift = std::min(static_cast<std::size_t>(cost), end);
    Item item{entry, cost, std::vector<std::uint64_t>((end + 63) / 64)};
    std::copy_n(best_.begin(), shift, next_.begin());
    for (std::size_t begin = shift; begin < end;) {
      const std::size_t count = std::min(end, begin / 64 * 64 + 64) - begin;
      item.taken[begin / 64] =
          decide(&best_[begin], &best_[begin - shift], value, count, &next_[begin]) << (begin % 64);
      begin += count;
    }
    best_.swap(next_);
    items_.push_back(std::move(item));
  }

  // What of the first `items` that were added makes the best value at this capacity.
  std::vector<std::size_t> chosen(std::size_t items, int capacity) const {
    std::vector<std::size_t> found;
    auto left = static_cast<std::size_t>(capacity);
    for (std::size_t i = items; i-- > 0;) {
      const Item& item = items_[i];
      if (!(item.taken[left / 64] >> (left % 64) & 1)) continue;
      found.push_back(item.entry);
      left -= static_cast<std::size_t>(item.cost);
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  std::size_t items() const { return items_.size(); }

 private:
  struct Item {
    std::size_t entry;
    int cost;
    std::vector<std::uint64_t> taken;  // by capacity
  };
  std::vector<double> best_, next_;
  std::vector<Item> items_;
};

// The best selection whose deepest tensor is this one.
struct Candidate {
  std::size_t deepest;
  std::size_t items;  // of the knapsack when it was found
  int left;           // capacity for them
  double importance;
};

class Selector {
 public:
  Selector(std::span<const ElasticEntry> entries, double seconds, const SelectorOptions& options)
      : entries_(entries),
        options_(options),
        part_(seconds / options.resolution),
        knapsack_(options.resolution) {}

  ElasticSelection select() {
    for (const Candidate& candidate : candidates()) {
      ElasticSelection selection = selection_of(candidate);
      if (!options_.fits || options_.fits(selection)) return selection;
    }
    return {};
  }

 private:
  // Whole parts, more than there are if it takes too long.
  int parts(double seconds) const {
    if (seconds == 0) return 0;
    const double parts = part_ > 0 ? std::ceil(seconds / part_) : HUGE_VAL;
    return parts > options_.resolution ? options_.resolution + 1 : static_cast<int>(parts);
  }

  // Most important first.
  std::vector<Candidate> candidates() {
    std::vector<Candidate> found;
    double passed = 0;  // Σ t_g of what lies nearer the output
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const ElasticEntry& e = entries_[i];
      if (e.selectable && e.importance > 0) {
        const int left = options_.resolution - parts(passed + e.update_seconds + e.deepest_seconds);
        if (left >= 0)
          found.push_back({i, knapsack_.items(), left, e.importance + knapsack_.best(left)});
        const int most = options_.resolution - parts(passed);
        const int cost = parts(e.update_seconds);
        if (cost <= most) knapsack_.add(i, cost, e.importance, most);
      }
      passed += e.pass_seconds;
      if (parts(passed) > options_.resolution) break;
    }
    std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
      return a.importance > b.importance;
    });
    return found;
  }

  ElasticSelection selection_of(const Candidate& candidate) const {
    ElasticSelection selection;
    selection.entries = knapsack_.chosen(candidate.items, candidate.left);
    selection.entries.push_back(candidate.deepest);
    selection.importance = candidate.importance;
    selection.seconds = backward_seconds(entries_, selection.entries);
    return selection;
  }

  const std::span<const ElasticEntry> entries_;
  const SelectorOptions& options_;
  const double part_;  // seconds
  Knapsack knapsack_;
};

}  // namespace

double backward_seconds(std::span<const ElasticEntry> entries,
                        std::span<const std::size_t> selected) {
  double seconds = 0;
  for (const std::size_t i : selected) seconds += entries[i].update_seconds;
  if (selected.empty()) return 0;
  const std::size_t deepest = selected.back();
  seconds += entries[deepest].deepest_seconds;
  for (std::size_t i = 0; i < deepest; ++i) seconds += entries[i].pass_seconds;
  return seconds;
}

ElasticSelection select_tensors(std::span<const ElasticEntry> entries, double seconds,
                                const SelectorOptions& options) {
  check(entries, seconds, options);
  return Selector(entries, seconds, options).select();
}

}  // namespace moil
