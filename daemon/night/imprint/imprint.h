// Rows of a classifier for classes that it does not know, from a few samples of each: imprinted
// weights (Qi et al., CVPR 2018) in whitened space.
//
// A row's parts are a whitened row (whitened_rows.h), which has length 1 in whitened space, so that
// those of few samples and of many are of one strength; and, if one class of all is right, a
// share of the mean of those known rows by whose names the class's samples are called
// (named_rows.h). With it the row answers wherever these do, and both compete by what tells them
// apart; without it, a row of few samples cannot outshout one of thousands that half knows them.
//
// Beside the rows that are there, which do not change, three numbers count for all new rows: a
// factor of whitened rows, the share of named ones and an offset in the biases. They minimise the
// loss on samples that the rows were not made of, the samples of known classes among them: so new
// rows answer for their classes and take little from the others (imprint_fit.h). Where no class has
// samples in two folds, whitened rows are as long as the old ones, the share is whole, and new rows
// get kStolen of the probability of samples of known classes.
//
// Pure: the same arguments and number of threads, the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/night/imprint/imprint_fit.h"
#include "daemon/night/imprint/named_rows.h"

namespace moil::night {

struct ImprintInput {
  std::size_t width = 0;                  // of the features
  std::size_t known = 0, fresh = 0;       // classes
  std::span<const FoldedSample> samples;  // in the order of their folds
  std::span<float> features;              // [samples x width]; whitened in place
  std::span<const float> known_weights;   // [known x width]
  std::span<const float> known_bias;      // [known], or empty
  // The new class whose samples have no look in common.
  std::optional<std::size_t> diverse = {};
  // Each class by itself (sigmoid), or one of all (softmax).
  bool each_by_itself = false;
};

struct ImprintedRows {
  std::vector<float> weights;  // [fresh x width]
  std::vector<float> bias;     // [fresh]
  bool fitted = false;         // on samples that were left out
  // By new class; none if each answers by itself, for of those several may be right.
  std::vector<std::optional<KnownName>> names;
  RightOf left_out;  // if fitted, and one class of all is right
};

// Nothing if the features do not tell samples apart, or a new class has none.
[[nodiscard]] std::optional<ImprintedRows> imprint(const ImprintInput& input);

// What imprint() takes at most beside its input.
[[nodiscard]] std::size_t imprint_bytes(std::size_t samples, std::size_t width, std::size_t known,
                                        std::size_t fresh, std::size_t largest_fold);

}  // namespace moil::night
