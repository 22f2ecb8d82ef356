// Rows of a classifier for classes that it does not know, from a few samples of each: imprinted
// weights (Qi et al., CVPR 2018) in whitened space.
//
// Rows are made in whitened space (whitened_rows.h), where each has length 1: those of few samples
// and of many are of one strength.
//
// A new class whose samples the classifier mostly calls by one known name, and hardly another new
// class's, may be paired with it: its row is the known one and a whitened row beside it. So it
// answers wherever the known one would, and both compete by what tells them apart; alone, a row of
// few samples cannot outshout one of thousands. Such classes are paired where that makes the loss
// below smaller. There a sample of theirs weighs kPairedWeight: what their rows take, they take
// from one known class each.
//
// Beside the rows that are there, which do not change, two numbers count for the new rows that
// stand alone, and two for those that are paired: a factor and an offset in all of their biases.
// They minimise the loss on samples that the rows were not made of (whitened_rows.h), the samples
// of known classes among them: so new rows answer for their classes and take little from the
// others. Where no class has samples in two folds, new rows are as long as the old ones and get
// kStolen of the probability of samples of known classes.
//
// Pure: the same arguments and number of threads, the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/night/whitened_rows.h"

namespace moil::night {

inline constexpr double kStolen = 0.01;
// Chosen on pairs of ImageNet's own classes, of five photos each.
inline constexpr double kPairedWeight = 5, kOwnShare = 0.8;
struct ImprintInput {
  std::size_t width = 0;                  // of the features
  std::size_t known = 0, fresh = 0;       // classes
  std::span<const FoldedSample> samples;  // in the order of their folds
  std::span<float> features;              // [samples x width]; whitened in place
  std::span<const float> known_weights;   // [known x width]
  std::span<const float> known_bias;      // [known], or empty
  // Each class by itself (sigmoid), or one of all (softmax).
  bool each_by_itself = false;
};

// What the classifier calls the samples of a new class, most of them.
struct KnownName {
  std::uint32_t known = 0;            // class
  std::size_t said = 0, samples = 0;  // of so many
  std::size_t of_all = 0;             // how many of any new class it calls so
  bool paired = false;
};

struct ImprintedRows {
  std::vector<float> weights;  // [fresh x width]
  std::vector<float> bias;     // [fresh]
  bool fitted = false;         // factors and offsets, on samples that were left out
  // By new class; none where each answers by itself, for of those several may be right.
  std::vector<std::optional<KnownName>> names;
};

// Nothing where the features do not tell samples apart, or a new class has none.
[[nodiscard]] std::optional<ImprintedRows> imprint(const ImprintInput& input);

// What imprint() takes at most beside its input.
[[nodiscard]] std::size_t imprint_bytes(std::size_t samples, std::size_t width, std::size_t known,
                                        std::size_t fresh, std::size_t largest_fold);

}  // namespace moil::night
