#include "daemon/spec/processor_use.h"

#include "base/gpu_nodes.h"

namespace moil::daemon {

bool may_be_another_processor(const JobSpec& spec) {
  return !spec.elastic && !spec.deadline_seconds && !spec.exact_arithmetic;
}

std::string why_cpu(ProcessorUse asked) {
  if (asked == ProcessorUse::kCpu) return "the job asks for it";
  if (asked == ProcessorUse::kAuto && gpu_nodes().empty()) return "this device shows no GPU";
  return "";
}

void use_processors(JobSpec& spec, ProcessorUse setting) {
  if (spec.processors == ProcessorUse::kAuto && may_be_another_processor(spec))
    spec.processors = setting;
}

}  // namespace moil::daemon
