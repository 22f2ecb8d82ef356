// Which processor computes what of a night's training: chosen by measurement on the device, and
// recorded, so that a resumed night computes the same.
//
// A device that cannot be had, or fails, costs no night: the CPU computes all.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/job_spec.h"
#include "engine/device/assignment.h"
#include "engine/device/processor.h"
#include "engine/train/trainer.h"

namespace moil::night {

struct NightProcessors {
  std::shared_ptr<Processor> processor;  // null: the CPU computes all
  Assignment assignment;
  // For choices and report: asked, method, device, layers (by name: "CGC", of FP, BP and UP, "-"
  // where there is none), predicted seconds a step of the schedule and of the CPU alone, transfers
  // a step, what the driver refused, and why the CPU computes all, where it does.
  nlohmann::json record;
};

// What a training that was planned for the CPU is chosen by.
struct TrainingToPlace {
  const ModelDescription& model;  // the head
  const std::set<std::string>& trainable_layers;
  const TrainerConfig& config;
  KernelSelector& kernels;
};

// folder: for what drivers compile.
[[nodiscard]] NightProcessors choose_processors(daemon::ProcessorUse use,
                                                const TrainingToPlace& training,
                                                const std::filesystem::path& folder);

// As recorded; the CPU where that cannot be had now, which the record then says.
[[nodiscard]] NightProcessors recorded_processors(const nlohmann::json& record,
                                                  const std::filesystem::path& folder);

// The record of a night whose device failed.
[[nodiscard]] nlohmann::json given_up(const std::string& why);

}  // namespace moil::night
