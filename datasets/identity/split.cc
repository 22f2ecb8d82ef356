#include "datasets/identity/split.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/random.h"

namespace moil::data {
namespace {

void check_fraction(double fraction) {
  if (!(fraction >= 0 && fraction <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the held-out fraction is " + std::to_string(fraction) + ", expected 0 to 1");
  }
}

std::size_t held_out(std::size_t count, double fraction) {
  const auto wanted = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(count)));
  if (fraction == 0 || fraction == 1 || count < 2) return wanted;
  return std::clamp<std::size_t>(wanted, 1, count - 1);
}

}  // namespace

std::string_view to_string(Split split) { return split == Split::kTrain ? "train" : "val"; }

Split split_from_string(std::string_view text) {
  if (text == "train") return Split::kTrain;
  if (text == "val") return Split::kValidation;
  throw Error(ErrorCode::kInvalidArgument,
              "'" + std::string(text) + "' is no split: expected 'train' or 'val'");
}

std::int64_t draw_of(const Digest& digest, std::uint64_t seed) {
  const std::string_view name(reinterpret_cast<const char*>(digest.bytes.data()),
                              digest.bytes.size());
  return static_cast<std::int64_t>(derive_seed(seed, name) >> 11);
}

Split split_of(const Digest& digest, double fraction, std::uint64_t seed) {
  check_fraction(fraction);
  const double uniform = static_cast<double>(draw_of(digest, seed)) / double{kDraws};  // [0, 1)
  return uniform < fraction ? Split::kValidation : Split::kTrain;
}

std::vector<Split> stratified_split(std::span<const std::uint32_t> labels,
                                    std::span<const std::string> classes, double fraction,
                                    std::uint64_t seed) {
  check_fraction(fraction);
  std::vector<std::vector<std::size_t>> members(classes.size());
  for (std::size_t i = 0; i < labels.size(); ++i) members.at(labels[i]).push_back(i);
  std::vector<Split> splits(labels.size(), Split::kTrain);
  for (std::size_t k = 0; k < classes.size(); ++k) {
    Random random(derive_seed(seed, "split/" + classes[k]));
    random.shuffle(std::span(members[k]));
    const std::size_t count = held_out(members[k].size(), fraction);
    for (std::size_t i = 0; i < count; ++i) splits[members[k][i]] = Split::kValidation;
  }
  return splits;
}

}  // namespace moil::data
