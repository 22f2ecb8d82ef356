// Which processor computes which step of which layer.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "engine/device/step_kind.h"

namespace moil {

// The CPU, or one of the processors of a plan: PlanOptions::processors[id - 1].
using ProcessorId = std::uint8_t;
inline constexpr ProcessorId kCpu = 0;
inline constexpr ProcessorId kSecondProcessor = 1;  // the first besides the CPU
inline constexpr std::size_t kMostProcessors = 4;   // the CPU included

// One a StepKind.
using StepProcessors = std::array<ProcessorId, kStepKinds>;

inline StepProcessors all_steps_on(ProcessorId id) { return {id, id, id, id}; }

// By layer name; one that is not named is the CPU's.
using Assignment = std::map<std::string, StepProcessors, std::less<>>;

inline ProcessorId processor_of(const Assignment& assignment, const std::string& layer,
                                StepKind kind) {
  const auto it = assignment.find(layer);
  return it == assignment.end() ? kCpu : it->second[static_cast<std::size_t>(kind)];
}

}  // namespace moil
