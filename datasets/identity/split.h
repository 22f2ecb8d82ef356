// Which samples are held out. A held-out sample is never trained on, and stays held out: splits are
// functions of the sample (or of the class list) and a seed, not of the day.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/identity/digest.h"

namespace moil::data {

enum class Split : std::uint8_t { kTrain = 0, kValidation = 1 };

std::string_view to_string(Split split);  // "train", "val"
// kInvalidArgument unless text is "train" or "val".
[[nodiscard]] Split split_from_string(std::string_view text);

// A number that content alone draws, below kDraws, each as likely as any other.
inline constexpr std::int64_t kDraws = std::int64_t{1} << 53;
[[nodiscard]] std::int64_t draw_of(const Digest& digest, std::uint64_t seed = 0);

// By content: held out with probability `fraction` over digests. Adding other samples changes
// nothing. kInvalidArgument unless 0 <= fraction <= 1.
[[nodiscard]] Split split_of(const Digest& digest, double fraction, std::uint64_t seed = 0);

// Stratified: of the n_k samples of each class, round(fraction * n_k) are held out; if
// 0 < fraction < 1 and n_k >= 2, at least one is held out and at least one is not. labels[i] is the
// class of sample i, an index into classes; the draw of a class depends on its name.
[[nodiscard]] std::vector<Split> stratified_split(std::span<const std::uint32_t> labels,
                                                  std::span<const std::string> classes,
                                                  double fraction, std::uint64_t seed = 0);

}  // namespace moil::data
