// Which steps of which layers another processor computes than the CPU.
#pragma once

#include <array>
#include <map>
#include <string>

#include "engine/device/step_kind.h"

namespace moil {

// One a StepKind: whether it is computed elsewhere than on the CPU.
using StepsElsewhere = std::array<bool, kStepKinds>;

// By layer name; one that is not named is the CPU's.
using Assignment = std::map<std::string, StepsElsewhere, std::less<>>;

inline bool is_elsewhere(const Assignment& assignment, const std::string& layer, StepKind kind) {
  const auto it = assignment.find(layer);
  return it != assignment.end() && it->second[static_cast<std::size_t>(kind)];
}

}  // namespace moil
