#include "daemon/night/plan/processors.h"

#include <algorithm>
#include <utility>

#include "base/files/file.h"
#include "base/may_start_programs.h"
#include "base/process_memory.h"
#include "daemon/night/data/build_record.h"
#include "daemon/night/plan/kernel_profile.h"
#include "daemon/night/plan/placement_store.h"
#include "daemon/spec/processor_use.h"
#include "engine/plan/selection_problem.h"

namespace moil::night {
namespace {

using daemon::ProcessorUse;

constexpr const char* kProcessor = "opencl";

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

std::string name_of(ProcessorUse use) {
  return use == ProcessorUse::kAuto ? "auto" : std::string(to_string(method_of(use)));
}

Json layers_of(const SelectionProblem& problem, const Schedule& schedule) {
  Json layers = Json::object();
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    std::string text;
    for (std::size_t pass = 0; pass < schedule[i].size(); ++pass)
      text += problem.layers[i].passes[pass] ? letter_of(schedule[i][pass]) : '-';
    if (text.find_first_not_of("-C") != std::string::npos) layers[problem.layers[i].name] = text;
  }
  return layers;
}

Json record_of(SelectionMethod method, const Processor& processor,
               const ProcessorMeasurement& measured) {
  const Schedule schedule = select(measured.problem, method);
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

BuildRecord crash_record(const std::filesystem::path& profiles) {
  return BuildRecord(profiles / "driver-crashed.json");
}

// "CGC": of FP, BP and UP, "-" for one that the layer does not have.
StepProcessors steps_of(const std::string& text) {
  const auto who = [&](std::size_t pass) {
    return pass < text.size() && text[pass] == letter_of(kSecondProcessor) ? kSecondProcessor
                                                                           : kCpu;
  };
  return {who(0), who(1), who(1), who(2)};
}

Placement placed(const std::shared_ptr<Processor>& processor, Json record) {
  if (record.at("method") == "cpu") return {{}, {}, std::move(record)};
  Placement placement{{processor}, {}, std::move(record)};
  for (const auto& [layer, text] : placement.record.at("layers").items())
    placement.assignment[layer] = steps_of(text.get<std::string>());
  return placement;
}

}  // namespace

std::size_t Placement::driver_bytes() const {
  return processors.empty() ? 0 : record.value("driver_bytes", std::size_t{0});
}

std::shared_ptr<Processor> open_second_processor(const std::filesystem::path& profiles) {
  std::shared_ptr<Processor> processor =
      open_processor(kProcessor, {.cache_folder = profiles / kProcessor});
  if (processor->is_the_cpu() && !may_start_programs())
    throw ProcessorError("OpenCL: " + processor->device() +
                         " is the CPU, and its driver starts programs, which this process may not");
  return processor;
}

void remember_crash(const std::filesystem::path& profiles) {
  crash_record(profiles).save(Json::object());
}

Json on_cpu(const std::string& why, const Json& before) {
  Json record = {{"method", "cpu"}, {"why", why}};
  if (before.is_object() && before.contains("asked")) record["asked"] = before.at("asked");
  return record;
}

Json given_up(const std::string& why, const Json& before) {
  Json record = on_cpu(why, before);
  record["gave_up"] = true;
  if (before.is_object()) record["until_then"] = before;
  return record;
}

std::string reason_given_up(const Json& record) {
  return record.is_object() && record.value("gave_up", false) ? record.value("why", std::string())
                                                              : "";
}

ProcessorChooser::ProcessorChooser(const daemon::JobSpec& spec, std::filesystem::path profiles,
                                   std::string gave_up, std::filesystem::path opened)
    : asked_(spec.processors),
      may_be_another_(daemon::may_be_another_processor(spec)),
      profiles_(std::move(profiles)),
      opened_(std::move(opened)),
      gave_up_(std::move(gave_up)) {
  if (gave_up_.empty() && asked_ == ProcessorUse::kAuto && crash_record(profiles_).load())
    gave_up_ = "its driver has crashed a night before; \"path\" tries it again";
}

Placement ProcessorChooser::for_training(const TrainingToPlace& training) {
  const TrainingPlanInput input =
      training_plan_input(training.model, &training.trainable_layers, training.config);
  return place(training_,
               {input.model, input.options, training.config.optimizer, training.kernels});
}

Placement ProcessorChooser::for_maps(const ModelDescription& model, std::int64_t batch,
                                     KernelSelector& kernels) {
  return place(maps_, {model, {.batch = batch, .plan = {}}, {}, kernels});
}

Placement ProcessorChooser::recorded_training(const Json& record) try {
  if (record.at("method") == "cpu") return {{}, {}, record};
  const std::shared_ptr<Processor> processor = open(training_);
  if (processor->device() != record.at("device"))
    return {{},
            {},
            on_cpu("the night began on " + record.at("device").get<std::string>() +
                       ", and the device is now " + processor->device(),
                   record)};
  return placed(processor, record);
} catch (const ProcessorError& error) {
  return {{}, {}, on_cpu(error.what(), record)};
}

std::shared_ptr<Processor> ProcessorChooser::open(Use& use) const {
  if (!use.trouble.empty()) throw ProcessorError(use.trouble);
  if (use.processor) return use.processor;
  use.bytes_before = resident_memory().bytes;
  if (!opened_.empty()) write_file_atomic(opened_, std::string_view());
  return use.processor = open_second_processor(profiles_);
}

Placement ProcessorChooser::place(Use& use, const NetworkToPlace& network) const {
  if (!may_be_another_) return {};
  Placement placement;
  if (!gave_up_.empty()) {
    placement.record = given_up(gave_up_);
  } else if (const std::string why = daemon::why_cpu(asked_); !why.empty()) {
    placement.record = on_cpu(why);
  } else {
    try {
      const std::shared_ptr<Processor> processor = open(use);
      placement = placed(processor, chosen(use, network));
    } catch (const ProcessorError& error) {
      use = {nullptr, error.what(), 0};
      placement.record = on_cpu(error.what());
    }
  }
  placement.record["asked"] = name_of(asked_);
  return placement;
}

Json ProcessorChooser::chosen(const Use& use, const NetworkToPlace& network) const {
  const std::shared_ptr<Processor>& processor = use.processor;
  if (asked_ == ProcessorUse::kAuto && processor->is_the_cpu())
    return on_cpu(processor->device() + " is the CPU itself");
  const PlacementStore store(
      profiles_ / "processors.json",
      {network.model, network.options, network.optimizer, name_of(asked_), processor->device()});
  if (auto known = store.load()) return *known;
  const ProcessorMeasurement measured = measure_processors(
      network.model, network.options, network.optimizer, network.kernels, {processor});
  Json record = record_of(method_of(asked_), *processor, measured);
  const double gain =
      1 - record.at("predicted_seconds").get<double>() / record.at("cpu_seconds").get<double>();
  if (asked_ == ProcessorUse::kAuto && gain <= measured.noise) {
    record = on_cpu("nothing is faster than the CPU alone by more than its own noise");
    record["device"] = processor->device();
  }
  // The networks are gone again: what is more than before is the driver's and its compiler's.
  record["driver_bytes"] = std::max(resident_memory().bytes, use.bytes_before) - use.bytes_before;
  store.save(record);
  return record;
}

}  // namespace moil::night
