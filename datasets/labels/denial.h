// Denials: labels that say what a sample is not, and nothing else of it. "!marvin" denies "marvin";
// people read and write "not marvin".
//
// The label store keeps a denial as any other label of a sample; one that no sample has any more is
// gone. A sample is not said to be and not to be the same; it may have a label and deny others.
// Whatever becomes of the label becomes of its denials: they are renamed with it, merged, and
// removed. Nothing is renamed to a denial, merged with one or mapped to one.
//
// A denial is no class: no output of a network, no row and no folder of a pack. What a night learns
// of it, Targets::write() says (engine/train/task.h).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace moil::data {

inline constexpr char kDenialMark = '!';

[[nodiscard]] inline bool is_denial(std::string_view label) {
  return label.starts_with(kDenialMark);
}
// What denies the label.
[[nodiscard]] inline std::string denial_of(std::string_view label) {
  return kDenialMark + std::string(label);
}
// The label that is denied; one that is no denial is itself.
[[nodiscard]] inline std::string without_denial(std::string_view label) {
  return std::string(label.substr(is_denial(label) ? 1 : 0));
}
// As people read it.
[[nodiscard]] inline std::string spoken_label(std::string_view label) {
  return is_denial(label) ? "not " + without_denial(label) : std::string(label);
}
// Whether there is nothing but denials.
[[nodiscard]] inline bool are_denials(const std::vector<std::string>& labels) {
  return std::ranges::all_of(labels, is_denial);
}

}  // namespace moil::data
