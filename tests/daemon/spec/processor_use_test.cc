#include "daemon/spec/processor_use.h"

#include <gtest/gtest.h>

namespace moil::daemon {
namespace {

TEST(ProcessorUses, TheDaemonsProcessorsAreThoseOfAJobThatLeavesTheChoice) {
  JobSpec spec;
  use_processors(spec, ProcessorUse::kCpu);
  EXPECT_EQ(spec.processors, ProcessorUse::kCpu);
  spec.processors = ProcessorUse::kPath;
  use_processors(spec, ProcessorUse::kCpu);
  EXPECT_EQ(spec.processors, ProcessorUse::kPath);
  JobSpec timed;
  timed.deadline_seconds = 60;
  use_processors(timed, ProcessorUse::kOpencl);
  EXPECT_EQ(timed.processors, ProcessorUse::kAuto) << "a deadline is kept on the CPU";
}

}  // namespace
}  // namespace moil::daemon
