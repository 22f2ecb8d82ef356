// Where an interval's training can begin: behind layers that do not learn in it.
//
// What these layers make of a sample is computed once and kept (cached_maps.h), as a night's
// backbone is (MoIL, chapter 4.3). Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/elastic/timing_profile.h"
#include "engine/model/cut.h"

namespace moil {

struct TailCut {
  Cut cut;
  std::size_t elements = 0;  // of a sample's map
  std::vector<bool> before;  // by layer of the training graph: what a step then leaves out
};

// In the order in which they are computed. model: complete (model/preparation.h). training: the
// graph of training it. Left out are values behind a dropout, which would freeze one draw of it,
// and those that inference computes in one with what follows: there its kernels would be others.
[[nodiscard]] std::vector<TailCut> tail_cuts(const ModelDescription& model, const Graph& training);

// Seconds of a forward pass up to the cut. The profile is of the same training graph.
[[nodiscard]] double forward_before(const TailCut& cut, const TimingProfile& profile);

// What an interval's steps go without.
struct TailSaving {
  const TailCut* cut = nullptr;  // none is worth it
  double seconds = 0;            // of a step in the mean; maps that are computed are paid from it
  double step_seconds = 0;       // of each step
};

// The maps that an interval may keep.
struct TailTerms {
  std::span<const TailCut> cuts;
  std::uint64_t most_elements = 0;  // of a sample's map: more have no room
  double computed = 1;              // for how much of what is trained a map is computed
  std::string kept;                 // the cut that has maps already; else empty
  double kept_computed = 1;         // for how much of it one is computed there
};

// The best for a selection: a cut before all of it that saves most.
[[nodiscard]] TailSaving best_cut(const TailTerms& terms, const TimingProfile& profile,
                                  const std::set<std::string>& selection);

// The one at this value; null if there is none.
[[nodiscard]] const TailCut* cut_at(std::span<const TailCut> cuts, const std::string& value);

}  // namespace moil
