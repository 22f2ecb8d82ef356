// Which tensors to train: those that matter most among what can be trained in time.
//
// ElasticTrainer, §4. Training a tensor costs its own update (t_w), and passing the error down to
// it costs the t_g of every entry that lies nearer the output. The deepest tensor that is selected
// decides the latter; the others are a knapsack of t_w in what is left of the time:
//
//   seconds(selection) = Σ_{selected} t_w + Σ_{m < deepest} t_g(m)
//
// (and what the deepest one needs beyond its t_w, since the error ends there).
//
// One knapsack table serves all choices of the deepest tensor, since it grows from the output on:
// O(N · resolution), while the paper's recurrence takes O(N² · T_q). Exact on chains and identity
// skips, to the resolution; on parallel branches the seconds are an upper bound, since all entries
// that lie nearer the output are charged, those of branches that need not be entered, too.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace moil {

// A tensor, or something without one that the error passes (selectable: false).
struct ElasticEntry {
  double importance = 0;       // elastic importance; what is not above 0 is never selected
  double update_seconds = 0;   // t_w: compute and apply its gradient
  double pass_seconds = 0;     // t_g: pass the error on to what lies deeper
  double deepest_seconds = 0;  // what t_w is more if nothing deeper is selected
  bool selectable = true;
};

struct ElasticSelection {
  std::vector<std::size_t> entries;  // ascending: from the output on
  double importance = 0;             // of all of them together
  double seconds = 0;                // of the backward pass
};

struct SelectorOptions {
  // Parts that the time is cut into; times are rounded up to whole ones, so that a selection never
  // takes longer than it may, and up to a part a tensor is left unused.
  int resolution = 100'000;
  // Refuses selections for what does not add up, as peak memory. The best of each choice of the
  // deepest tensor are asked for, most important first, until one is accepted. Empty: all fit.
  std::function<bool(const ElasticSelection&)> fits = {};
};

// The seconds of a backward pass that trains these entries (ascending).
double backward_seconds(std::span<const ElasticEntry> entries,
                        std::span<const std::size_t> selected);

// Entries are numbered from the output. Selects nothing if nothing fits. Throws
// kInvalidArgument for times that are negative or not finite, an importance that is not a number,
// or a resolution below 1.
ElasticSelection select_tensors(std::span<const ElasticEntry> entries, double seconds,
                                const SelectorOptions& options = {});

}  // namespace moil
