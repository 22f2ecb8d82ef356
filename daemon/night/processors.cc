#include "daemon/night/processors.h"

#include <utility>

#include "engine/graph/selection_problem.h"
#include "engine/train/processor_measurement.h"

namespace moil::night {
namespace {

using daemon::ProcessorUse;
using Json = nlohmann::json;

constexpr const char* kProcessor = "opencl";

// Whether the device shows a GPU at all. Where it shows none, no driver is loaded only to say so:
// it would bring its compiler into memory.
bool shows_gpu() {
  for (const auto& [folder, prefix] : {std::pair{"/dev/dri", "renderD"}, std::pair{"/dev", "mali"},
                                       std::pair{"/dev", "kgsl"}, std::pair{"/dev", "nvidia"}}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      if (entry.path().filename().native().starts_with(prefix)) return true;
  }
  return false;
}

NightProcessors on_cpu(const std::string& why) { return {nullptr, {}, given_up(why)}; }

SelectionMethod method_of(ProcessorUse use) {
  switch (use) {
    case ProcessorUse::kCpu:
      return SelectionMethod::kCpu;
    case ProcessorUse::kOpencl:
      return SelectionMethod::kElsewhere;
    case ProcessorUse::kStepWise:
      return SelectionMethod::kStepWise;
    case ProcessorUse::kLayerWise:
      return SelectionMethod::kLayerWise;
    case ProcessorUse::kAuto:
    case ProcessorUse::kPath:
      return SelectionMethod::kPath;
  }
  return SelectionMethod::kCpu;
}

Json layers_of(const SelectionProblem& problem, const Schedule& schedule) {
  Json layers = Json::object();
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    std::string text;
    for (std::size_t pass = 0; pass < schedule[i].size(); ++pass)
      text += !problem.layers[i].passes[pass] ? '-' : schedule[i][pass] ? 'G' : 'C';
    if (text.find('G') != std::string::npos) layers[problem.layers[i].name] = text;
  }
  return layers;
}

Json record_of(SelectionMethod method, const Processor& processor,
               const ProcessorMeasurement& measured, const Schedule& schedule) {
  const ScheduleCost cost = cost_of(measured.problem, schedule);
  const double cpu =
      cost_of(measured.problem, select(measured.problem, SelectionMethod::kCpu)).seconds();
  return {{"method", to_string(method)},
          {"device", processor.device()},
          {"layers", layers_of(measured.problem, schedule)},
          {"predicted_seconds", cost.seconds()},
          {"cpu_seconds", cpu},
          {"transfers", cost.transfers()},
          {"refused", measured.refused}};
}

// "CGC": of FP, BP and UP, "-" for one that the layer does not have.
StepsElsewhere steps_of(const std::string& text) {
  const auto is_elsewhere = [&](std::size_t pass) {
    return pass < text.size() && text[pass] == 'G';
  };
  const bool backward = is_elsewhere(1);
  return {is_elsewhere(0), backward, backward, is_elsewhere(2)};
}

}  // namespace

nlohmann::json given_up(const std::string& why) { return {{"method", "cpu"}, {"why", why}}; }

namespace {

NightProcessors chosen_processors(ProcessorUse use, const TrainingToPlace& training,
                                  const std::filesystem::path& folder) try {
  if (use == ProcessorUse::kCpu) return on_cpu("the job asks for it");
  if (use == ProcessorUse::kAuto && !shows_gpu()) return on_cpu("this device shows no GPU");
  NightProcessors chosen;
  chosen.processor = open_processor(kProcessor, {.cache_folder = folder});
  if (use == ProcessorUse::kAuto && chosen.processor->is_the_cpu())
    return on_cpu(chosen.processor->device() + " is the CPU itself");
  const TrainingPlanInput input =
      training_plan_input(training.model, &training.trainable_layers, training.config);
  const ProcessorMeasurement measured = measure_processors(
      input.model, input.options, training.config.optimizer, training.kernels, chosen.processor);
  const SelectionMethod method = method_of(use);
  const Schedule schedule = select(measured.problem, method);
  chosen.record = record_of(method, *chosen.processor, measured, schedule);
  const double gain = 1 - chosen.record.at("predicted_seconds").get<double>() /
                              chosen.record.at("cpu_seconds").get<double>();
  if (use == ProcessorUse::kAuto && gain <= measured.noise) {
    Json record = given_up("nothing is faster than the CPU alone by more than its own noise");
    record["device"] = chosen.processor->device();
    return {nullptr, {}, record};
  }
  chosen.assignment = assignment_of(build_graph(input.model, input.options.batch), schedule);
  return chosen;
} catch (const ProcessorError& error) {
  return on_cpu(error.what());
}

}  // namespace

NightProcessors choose_processors(ProcessorUse use, const TrainingToPlace& training,
                                  const std::filesystem::path& folder) {
  NightProcessors chosen = chosen_processors(use, training, folder);
  chosen.record["asked"] = use == ProcessorUse::kAuto ? "auto" : to_string(method_of(use));
  return chosen;
}

NightProcessors recorded_processors(const nlohmann::json& record,
                                    const std::filesystem::path& folder) try {
  if (record.at("method") == "cpu") return {nullptr, {}, record};
  NightProcessors chosen{open_processor(kProcessor, {.cache_folder = folder}), {}, record};
  if (chosen.processor->device() != record.at("device"))
    return on_cpu("the night began on " + record.at("device").get<std::string>() +
                  ", and the device is now " + chosen.processor->device());
  for (const auto& [layer, text] : record.at("layers").items())
    chosen.assignment[layer] = steps_of(text.get<std::string>());
  return chosen;
} catch (const ProcessorError& error) {
  return on_cpu(error.what());
}

}  // namespace moil::night
