// Runs our vector code as it was compiled for one instruction set after the other.
#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace moil::test {

// fn(name), for all that this CPU has.
template <class Fn>
void for_each_instruction_set(const Fn& fn) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (std::int64_t left = supported; left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    fn(hwy::TargetName(left & -left));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace moil::test
