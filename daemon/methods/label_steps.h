// The `step` of a method that changes labels: calls in a row that give the same one are undone
// together.
#pragma once

#include <optional>
#include <string>

namespace moil::daemon {

inline std::optional<std::string> check_step(const std::string& step) {
  constexpr std::size_t kMostBytes = 64;
  if (step.size() <= kMostBytes) return std::nullopt;
  return "is longer than " + std::to_string(kMostBytes) + " bytes";
}

}  // namespace moil::daemon
