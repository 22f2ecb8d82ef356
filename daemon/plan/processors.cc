#include "daemon/plan/processors.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "engine/device/kernel_selector.h"
#include "engine/device/recorded_device.h"
#include "engine/device/schedule_picture.h"
#include "engine/graph/selection_problem.h"
#include "engine/io/recorded_device_json.h"
#include "engine/train/processor_measurement.h"

namespace moil::plan {
namespace {

using Json = nlohmann::json;

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
      device.device, recorded_problem(device, model, options, kernels, /*shares_memory=*/true), {}};
}

Measured measured(const ProcessorArguments& a, const ModelDescription& model,
                  const NetworkOptions& options, const OptimizerConfig& optimizer) {
  const std::shared_ptr<Processor> processor = open_processor("opencl", {.device = a.device});
  KernelSelector kernels;
  ProcessorMeasurement found = measure_processors(model, options, optimizer, kernels, processor);
  return {processor->device(), std::move(found.problem), std::move(found.refused)};
}

double milliseconds(double seconds) { return 1e3 * seconds; }

void print_layers(const SelectionProblem& problem, const Schedule& schedule) {
  std::printf("%-32s %-4s  %-23s %-23s %-23s\n", "layer, ms on CPU | other", "", "FP", "BP", "UP");
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const SelectionLayer& layer = problem.layers[i];
    const std::string letters = to_string(layer, schedule[i]);
    if (letters.empty()) continue;
    std::printf("%-32s %-4s ", layer.name.c_str(), letters.c_str());
    for (std::size_t p = 0; p < layer.passes.size(); ++p) {
      const auto& pass = layer.passes[p];
      if (!pass)
        std::printf(" %23s", "");
      else if (pass->elsewhere)
        std::printf(" %10.3f | %10.3f", milliseconds(pass->cpu), milliseconds(*pass->elsewhere));
      else
        std::printf(" %10.3f | %10s", milliseconds(pass->cpu), "-");
    }
    std::printf("\n");
  }
}

Json layers_json(const SelectionProblem& problem, const Schedule& schedule) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    Json layer = {{"name", problem.layers[i].name},
                  {"type", problem.layers[i].type},
                  {"processors", to_string(problem.layers[i], schedule[i])}};
    for (std::size_t p = 0; p < problem.layers[i].passes.size(); ++p) {
      const auto& pass = problem.layers[i].passes[p];
      if (!pass) continue;
      layer[to_string(static_cast<Pass>(p))] = {
          {"c", pass->cpu}, {"g", pass->elsewhere ? Json(*pass->elsewhere) : Json()}};
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

Json methods_json(const SelectionProblem& problem) {
  Json methods = Json::object();
  for (const SelectionMethod method : kSelectionMethods) {
    const ScheduleCost cost = cost_of(problem, select(problem, method));
    methods[std::string(to_string(method))] = {{"seconds", cost.seconds()},
                                               {"transfers", cost.transfers()}};
  }
  return methods;
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
  const Json methods = methods_json(found.problem);
  if (a.json) {
    const Json json = {{"device", found.device},
                       {"method", a.method},
                       {"layers", layers_json(found.problem, schedule)},
                       {"methods", methods},
                       {"refused", found.refused}};
    std::printf("%s\n", json.dump(1).c_str());
    return;
  }
  std::printf("%s\non %s\n\n", title.c_str(), found.device.c_str());
  print_layers(found.problem, schedule);
  std::printf("\n%-12s %12s %10s\n", "selection", "ms a step", "transfers");
  for (const SelectionMethod one : kSelectionMethods) {
    const Json& cost = methods.at(std::string(to_string(one)));
    std::printf("%-12s %12.3f %10zu%s\n", std::string(to_string(one)).c_str(),
                milliseconds(cost.at("seconds").get<double>()),
                cost.at("transfers").get<std::size_t>(), one == method ? "  <" : "");
  }
  for (const std::string& refused : found.refused)
    std::printf("the driver refuses %s\n", refused.c_str());
}

}  // namespace moil::plan
