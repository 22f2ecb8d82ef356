// Scenes: samples that look alike (frames of a burst, photos of one moment) and belong on one side
// of every split, for whoever has learned one of them knows the others.
//
// Pure functions; safe from any thread. What they give depends on the order of the samples and on
// which share a scene, not on the ids of the scenes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/sampling/mix.h"

namespace moil::data {

// For each sample the number of its scene, from 0 in the order of first appearance. Samples of one
// source that have the same MixedSample::scene share a number; one with kOwnScene has its own.
[[nodiscard]] std::vector<std::size_t> scene_groups(std::span<const MixedSample> samples);

// For each sample a fold below `folds`. Samples of a scene share a fold; the samples of each label
// are spread over the folds as evenly as whole scenes allow, and so are all samples. A label of
// fewer scenes than folds is missing from some. kInvalidArgument unless folds is 2 or more.
[[nodiscard]] std::vector<std::size_t> folds_by_scene(std::span<const MixedSample> samples,
                                                      std::size_t folds, std::uint64_t seed);

}  // namespace moil::data
