// GDM, global data mixing: SamplePerClass(D_G, alpha) (MoIL thesis, chapter 4), and the order in
// which a mix is gone through.
//
// A draw is a function of (classes, labels, alpha, seed, limit) alone, the same on every machine.
// Draws of one seed are nested: a larger alpha adds samples and drops none, and so does a larger
// limit, so that the feature maps of a smaller night are reused. All functions throw
// kInvalidArgument unless 0 <= alpha <= 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/samples/dataset.h"

namespace moil::data {

// How many of n samples alpha takes: round(alpha * n), at least one if alpha > 0 and n > 0.
[[nodiscard]] std::size_t share_of(std::size_t n, double alpha);

// Draws share_of(n_k, alpha) samples of every class k on its own, without replacement; their
// indices in growing order. labels[i] is the class of sample i, an index into classes. `limit` cuts
// every class to one size, with which all of them are so many if alpha is 1: the large ones give
// way first, and what a class may have does not depend on alpha.
[[nodiscard]] std::vector<std::size_t> sample_per_class(std::span<const ClassId> labels,
                                                        std::span<const std::string> classes,
                                                        double alpha, std::uint64_t seed,
                                                        std::optional<std::size_t> limit = {});

// For samples with several tags: share_of(n, alpha) of all n samples, so that each tag keeps its
// share (drawing per tag would draw popular samples many times over).
[[nodiscard]] std::vector<std::size_t> sample_over_all(std::size_t n, double alpha,
                                                       std::uint64_t seed,
                                                       std::optional<std::size_t> limit = {});

// SamplePerClass over those of the dataset's samples that are not held out: per class, or over all
// if a sample has several labels, or if labels are numbers and no classes.
[[nodiscard]] std::vector<std::size_t> sample_training(const Dataset& dataset, double alpha,
                                                       std::uint64_t seed,
                                                       std::optional<std::size_t> limit = {},
                                                       bool labels_are_numbers = false);

// The order of n samples in an epoch: a permutation of 0..n-1, another one each epoch.
[[nodiscard]] std::vector<std::size_t> epoch_order(std::size_t n, std::uint64_t seed,
                                                   std::uint64_t epoch);

}  // namespace moil::data
