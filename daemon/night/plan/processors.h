// Which processor computes what of a night's networks: chosen by measurement on the device, and
// kept across nights, so that the same network is placed as it was before. For feature maps that
// matters: another processor makes other bits, and cached maps are asked for by these.
//
// A device that cannot be had, or fails, costs no night: the CPU computes all.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/json/json.h"
#include "daemon/spec/job_spec.h"
#include "engine/device/assignment.h"
#include "engine/device/processor.h"
#include "engine/train/processor_measurement.h"
#include "engine/train/trainer.h"

namespace moil::night {

struct Placement {
  std::vector<std::shared_ptr<Processor>> processors;  // besides the CPU; empty: it computes all
  Assignment assignment;
  // For choices and report: asked, method, device, layers (by name: "CGC", of FP, BP and UP, "-"
  // if there is none), predicted seconds a step of the schedule and of the CPU alone, transfers
  // a step, what the driver refused and what it keeps of memory for itself (driver_bytes), and why
  // the CPU computes all, if it does. Null if nothing else than the CPU comes into question.
  nlohmann::json record;

  [[nodiscard]] std::size_t driver_bytes() const;
};

// What a training that was planned for the CPU is chosen by.
struct TrainingToPlace {
  const ModelDescription& model;  // the head
  const std::set<std::string>& trainable_layers;
  const TrainerConfig& config;
  KernelSelector& kernels;
};

// This chooses processors for one night. Feature maps and training have an object each, for they
// may be computed at the same time. One thread.
class ProcessorChooser {
 public:
  // profiles: the folder of what is kept across nights. gave_up: why the CPU is to compute all, as
  // after a device failed; empty: nothing stands against another processor. opened: a file that is
  // made before another processor is opened, so that a crash can be laid to its driver.
  ProcessorChooser(const daemon::JobSpec& spec, std::filesystem::path profiles, std::string gave_up,
                   std::filesystem::path opened);

  [[nodiscard]] Placement for_training(const TrainingToPlace& training);
  // model: prepared for inference.
  [[nodiscard]] Placement for_maps(const ModelDescription& model, std::int64_t batch,
                                   KernelSelector& kernels);
  // Training as recorded; on the CPU if that cannot be had now, which the record then says.
  [[nodiscard]] Placement recorded_training(const nlohmann::json& record);

 private:
  struct Use {
    std::shared_ptr<Processor> processor;
    std::string trouble;           // why there is none; it is not tried again
    std::size_t bytes_before = 0;  // of this process, before it was opened
  };
  struct NetworkToPlace {
    const ModelDescription& model;  // prepared
    const NetworkOptions& options;
    const OptimizerConfig& optimizer;
    KernelSelector& kernels;
  };
  [[nodiscard]] Placement place(Use& use, const NetworkToPlace& network) const;
  [[nodiscard]] nlohmann::json chosen(const Use& use, const NetworkToPlace& network) const;
  [[nodiscard]] std::shared_ptr<Processor> open(Use& use) const;

  daemon::ProcessorUse asked_;
  bool may_be_another_;
  std::filesystem::path profiles_, opened_;
  std::string gave_up_;
  Use maps_, training_;
};

// Opens the second processor for this process; what is compiled is kept below `profiles`.
// ProcessorError if there is none, or none that works here: a driver that offers the CPU calls a
// linker, and ends the process if it may start no program (confinement.h).
[[nodiscard]] std::shared_ptr<Processor> open_second_processor(
    const std::filesystem::path& profiles);

// The record of what the CPU computes. before: the record that it takes the place of, whose "asked"
// it keeps.
[[nodiscard]] nlohmann::json on_cpu(const std::string& why, const nlohmann::json& before = {});
// For the nights to come: "auto" is the CPU if a driver has crashed the worker.
void remember_crash(const std::filesystem::path& profiles);

// If a device failed: the CPU computes all from then on. Keeps `before` as "until_then".
[[nodiscard]] nlohmann::json given_up(const std::string& why, const nlohmann::json& before = {});
// Why, of such a record; empty of any other.
[[nodiscard]] std::string reason_given_up(const nlohmann::json& record);

}  // namespace moil::night
