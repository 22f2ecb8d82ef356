#include "daemon/plan/processors.h"

#include <cstdio>

#include "base/files/file.h"
#include "base/json/json.h"
#include "daemon/ctl/jobs/processor_table.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/device/recorded_device.h"
#include "engine/device/schedule_picture.h"
#include "engine/io/recorded_device_json.h"
#include "engine/io/selection_json.h"
#include "engine/plan/selection_problem.h"
#include "engine/train/processor_measurement.h"

namespace moil::plan {
namespace {

struct Measured {
  std::string device;
  SelectionProblem problem;
  std::vector<std::string> refused;
};

Measured recorded(const ProcessorArguments& a, const ModelDescription& model,
                  const NetworkOptions& options) {
  const RecordedDevice device = read_recorded_device(a.recorded);
  KernelSelector::Options unmeasured;
  unmeasured.measure = false;
  KernelSelector kernels(unmeasured);
  return {
      device.device,
      recorded_problem(device, model, options.batch, options.plan, kernels, /*shares_memory=*/true),
      {}};
}

Measured measured(const ProcessorArguments& a, const ModelDescription& model,
                  const NetworkOptions& options, const OptimizerConfig& optimizer) {
  const std::shared_ptr<Processor> processor = open_processor("opencl", {.device = a.device});
  KernelSelector kernels;
  ProcessorMeasurement found = measure_processors(model, options, optimizer, kernels, {processor});
  return {processor->device(), std::move(found.problem), std::move(found.refused)};
}

}  // namespace

void plan_processors(const ProcessorArguments& a, const std::string& title,
                     const ModelDescription& model, const NetworkOptions& options,
                     const OptimizerConfig& optimizer) {
  const SelectionMethod method = selection_method(a.method);
  const Measured found =
      a.recorded.empty() ? measured(a, model, options, optimizer) : recorded(a, model, options);
  const Schedule schedule = select(found.problem, method);
  if (!a.svg.empty())
    write_file_atomic(a.svg, draw_schedule(title + ", " + a.method + " on " + found.device,
                                           found.problem, schedule));
  const nlohmann::json told =
      selection_json(found.device, method, found.problem, schedule, found.refused);
  if (a.json) {
    std::printf("%s\n", told.dump(1).c_str());
    return;
  }
  std::printf("%s\non %s\n\n%s", title.c_str(), found.device.c_str(),
              daemon::ctl::processor_table(told).c_str());
}

}  // namespace moil::plan
