// The samples of trials: training samples alone, some of them held out.
//
// What judges a night judges no trial. Held out are the latest local scenes of each label, for a
// model serves what comes after what it learned from; and a seeded part of the global samples. Some
// of the labels too small for a quarter to be a sample hold back one for the others. A scene
// (MixedSample::scene) lies on one side.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/sampling/mix.h"

namespace moil::night {

// Samples of either side, at most.
inline constexpr std::size_t kMostTrialsHoldOut = 500;

// by_label: false if labels are numbers. The mix's held-out samples are passed over; those of
// the result are the trials'. Empty lists if there is too little. untrained: global training
// samples, if the mix trains on none, which are held out then.
[[nodiscard]] data::Mix trial_mix(const data::Mix& mix, bool by_label, std::uint64_t seed,
                                  const std::vector<data::MixedSample>& untrained = {});

}  // namespace moil::night
