// moil-plan: what a model's training or inference would need in memory, without a daemon and
// without running it.
#include <sysexits.h>

#include <cstdio>
#include <optional>

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/version.h"
#include "daemon/manual/manual.h"
#include "daemon/plan/processors.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/device/processor.h"
#include "engine/io/model_json.h"
#include "engine/model/freeze.h"
#include "engine/model/initial_weights.h"
#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "engine/plan/plan_picture.h"
#include "engine/plan/plan_report.h"
#include "engine/train/optimizer.h"
#include "engine/train/trainer.h"

namespace {

using moil::ModelDescription;

struct Arguments {
  std::string model, svg, optimizer = "sgd";
  double momentum = 0;
  std::int64_t batch = 32;
  std::optional<int> trainable_layers;
  bool inference = false, clip = false, json = false;
  std::string processors, device, recorded;
};

struct Planned {
  std::unique_ptr<moil::KernelSelector> kernels;
  std::unique_ptr<moil::Network> network;  // inference
  std::unique_ptr<moil::Trainer> trainer;  // training
  const moil::Network& get() const { return network ? *network : trainer->network(); }
};

// The head that would train, and by what.
struct Training {
  ModelDescription head;
  std::set<std::string> layers;
  moil::TrainerConfig config;
};

Training training(const ModelDescription& model, const Arguments& a) {
  const moil::Freeze freeze = moil::freeze_all_but_last(model, a.trainable_layers);
  Training t{freeze.split.empty()
                 ? model
                 : moil::realize_slice(model, freeze.split, freeze.split_dims).head,
             freeze.trainable_layers,
             {}};
  t.config.optimizer.kind = moil::optimizer_kind(a.optimizer);
  t.config.optimizer.momentum = a.momentum;
  t.config.batch = a.batch;
  t.config.clip_norm = a.clip ? 1 : 0;
  return t;
}

Planned plan(const ModelDescription& model, const Arguments& a) {
  Planned planned;
  moil::KernelSelector::Options options;
  options.measure = false;
  planned.kernels = std::make_unique<moil::KernelSelector>(options);
  if (a.inference) {
    moil::WeightMap weights = moil::initial_weights(moil::build_graph(model, 1), 1);
    planned.network = std::make_unique<moil::Network>(
        moil::prepare_inference(model, weights), moil::NetworkOptions{.batch = a.batch, .plan = {}},
        *planned.kernels);
    return planned;
  }
  const Training t = training(model, a);
  planned.trainer = std::make_unique<moil::Trainer>(t.head, &t.layers, t.config, *planned.kernels);
  return planned;
}

std::string title_of(const ModelDescription& model, const Arguments& a) {
  return model.name + ", batch " + std::to_string(a.batch) +
         (a.inference ? ", inference" : ", training");
}

void run_processors(const ModelDescription& model, const Arguments& a) {
  const moil::plan::ProcessorArguments asked{a.processors, a.device, a.recorded, a.svg, a.json};
  if (a.inference) {
    const moil::NetworkOptions options{.batch = a.batch, .plan = {}};
    return moil::plan::plan_processors(asked, title_of(model, a), moil::prepare_inference(model),
                                       options, {});
  }
  Training t = training(model, a);
  t.config.memory_budget_bytes = moil::kNoMemoryBudget;  // the fastest kernels
  const moil::TrainingPlanInput input = moil::training_plan_input(t.head, &t.layers, t.config);
  moil::plan::plan_processors(asked, title_of(model, a), input.model, input.options,
                              t.config.optimizer);
}

nlohmann::json to_json(const moil::PlanReport& r) {
  nlohmann::json kinds;
  for (const auto& [kind, bytes] : r.at_peak) kinds[moil::to_string(kind)] = bytes;
  return {{"planned_bytes", r.planned_bytes},
          {"lower_bound_bytes", r.lower_bound_bytes},
          {"sorting_bytes", r.sorting_bytes},
          {"peak_order", r.peak_order},
          {"peak_step", r.peak_step},
          {"orders", r.orders},
          {"at_peak", kinds}};
}

double mib(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

void print_table(const moil::PlanReport& r) {
  std::printf("planned      %10.2f MiB\nlower bound  %10.2f MiB\nsorting      %10.2f MiB\n\n",
              mib(r.planned_bytes), mib(r.lower_bound_bytes), mib(r.sorting_bytes));
  std::printf("live at the peak, order %d of %d (%s):\n", r.peak_order, r.orders,
              r.peak_step.c_str());
  for (const auto& [kind, bytes] : r.at_peak) {
    std::printf("  %-16s %10.2f MiB  %5.1f %%\n", moil::to_string(kind), mib(bytes),
                100.0 * static_cast<double>(bytes) / static_cast<double>(r.lower_bound_bytes));
  }
}

// What the same plan would need with less of something.
std::vector<std::pair<std::string, std::size_t>> alternatives(const ModelDescription& model,
                                                              const Arguments& a) {
  std::vector<std::pair<std::string, std::size_t>> list;
  const auto try_with = [&](const std::string& what, const Arguments& changed) {
    list.emplace_back(what, plan(model, changed).get().plan().memory.total_bytes);
  };
  Arguments changed = a;
  if (a.batch > 1) {
    changed.batch = a.batch / 2;
    try_with("batch " + std::to_string(changed.batch), changed);
  }
  changed = a;
  if (!a.inference && a.trainable_layers.value_or(2) > 1) {
    changed.trainable_layers = 1;
    try_with("LF(1), the last layer alone", changed);
  }
  return list;
}

void run(const Arguments& a) {
  const ModelDescription model = moil::complete_model(moil::read_model(a.model));
  if (!a.processors.empty()) return run_processors(model, a);
  const Planned planned = plan(model, a);
  const moil::Network& network = planned.get();
  const moil::PlanReport report = moil::report_plan(network.graph(), network.plan());
  const auto less = alternatives(model, a);
  if (!a.svg.empty()) {
    moil::write_file_atomic(a.svg,
                            moil::draw_plan(title_of(model, a), network.graph(), network.plan()));
  }
  if (a.json) {
    nlohmann::json json = to_json(report);
    for (const auto& [what, bytes] : less) json["less"][what] = bytes;
    std::printf("%s\n", json.dump(1).c_str());
    return;
  }
  print_table(report);
  if (!less.empty()) std::printf("\nless would be needed with:\n");
  for (const auto& [what, bytes] : less)
    std::printf("  %-32s %10.2f MiB\n", what.c_str(), mib(bytes));
}

int exit_code_of(moil::ErrorCode code) {
  switch (code) {
    case moil::ErrorCode::kNotFound:
      return EX_NOINPUT;
    case moil::ErrorCode::kBadData:
      return EX_DATAERR;
    case moil::ErrorCode::kIo:
      return EX_IOERR;
    default:
      return EX_USAGE;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  moil::cli::Program app("Tells what training or running a model would need in memory.",
                         "moil-plan", moil::kVersion);
  app.add_option("MODEL", a.model, "Model description (model.json)").required();
  app.add_option("--batch", a.batch).check(moil::cli::positive()).capture_default_str();
  app.add_option("--trainable-layers", a.trainable_layers, "n of LF(n); all if left out")
      .check(moil::cli::not_negative());
  app.add_flag("--inference", a.inference, "Plan inference instead of training");
  app.add_option("--optimizer", a.optimizer, "sgd, sgdw, adam or adamw").capture_default_str();
  app.add_option("--momentum", a.momentum).capture_default_str();
  app.add_flag("--clip", a.clip, "Plan for clipping by the global norm");
  app.add_option("--svg=FILE", a.svg, "Draw the plan to this file");
  const auto processors = app.add_option(
      "--processors=SELECTION", a.processors,
      "Tell who would compute what beside an OpenCL device, which is measured: cpu, opencl, "
      "step_wise, layer_wise or path");
  app.add_option("--device=NAME", a.device, "With --processors: a part of the device's name")
      .needs(processors);
  app.add_option("--recorded=FILE", a.recorded,
                 "With --processors: a recorded device's file, in place of one at hand")
      .needs(processors);
  app.add_flag("--json", a.json, "Print JSON");
  moil::manual::add_manual(app);
  if (const auto exit = app.parse(argc, argv)) return *exit;
  try {
    run(a);
    return EX_OK;
  } catch (const moil::ProcessorError& e) {
    std::fprintf(stderr, "moil-plan: %s\n", e.what());
    return EX_UNAVAILABLE;
  } catch (const moil::Error& e) {
    std::fprintf(stderr, "moil-plan: %s\n", e.what());
    return exit_code_of(e.code());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "moil-plan: %s\n", e.what());
    return EX_SOFTWARE;
  }
}
