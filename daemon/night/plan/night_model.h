// The networks of one night: the backbone and the trainer, planned before anything runs.
//
// Prediction first: planned_bytes() is what the night will use at most, and is held against the
// job's budget before the first sample is read (docs/memory.md tells what is counted).
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "daemon/models/model_folder.h"
#include "daemon/night/data/decoding.h"
#include "daemon/night/imprint/imprint_plan.h"
#include "daemon/night/maps/backbone.h"
#include "daemon/night/maps/map_split.h"
#include "daemon/night/plan/processors.h"
#include "daemon/spec/job_spec.h"
#include "datasets/sampling/mix.h"
#include "engine/device/conv/measuring_time.h"
#include "engine/elastic/elastic_trainer.h"
#include "engine/train/memory_fit.h"

namespace moil::night {

// Kernels are measured for so long, all of a night together, and for no more than this share of a
// deadline; what there was no time for is taken as it is best guessed.
inline constexpr double kMeasuringSeconds = 30, kMeasuringShare = 0.05;

// How training is fitted into memory; recorded, so that a resumed night computes the same.
struct TrainingMemory {
  std::int64_t micro_batch = 0;
  std::set<std::string> again;  // layers whose outputs are made again
  SwapOptions swap;
  std::size_t memory_budget_bytes = 0;
};
[[nodiscard]] nlohmann::json to_json(const TrainingMemory& memory);
[[nodiscard]] TrainingMemory training_memory_from_json(const nlohmann::json& json);

struct NightModel {
  StoredModel bundle;  // grown for the mix's classes, if its task has any
  Freeze freeze;       // its split is that of `maps`, if maps are kept
  std::optional<MapSplit> maps;
  ModelDescription head;       // the whole model if nothing is frozen
  ModelDescription base_head;  // the same of the model before the night
  std::unique_ptr<KernelSelector> backbone_kernels, trainer_kernels;
  std::unique_ptr<Backbone> backbone;
  nlohmann::json map_processors;       // Placement::record, of the backbone
  std::size_t driver_bytes = 0;        // of other processors' drivers
  std::optional<ImprintPlan> imprint;  // if rows are imprinted
  // Null if nothing trains (n = 0, or no epochs). Elastic training has the plan of training
  // everything.
  std::unique_ptr<Trainer> trainer;
  std::optional<ElasticConfig> elastic;
  // Elastic training's; planned now, so that its kernels are among the choices that are recorded.
  std::unique_ptr<ImportanceProbe> probe;
  std::size_t choosing_bytes = 0;  // what elastic training takes while it probes
  TrainingMemory training_memory;
  std::size_t head_bytes = 0;     // of the head's weights
  std::size_t judging_bytes = 0;  // of the larger HeadNetwork
  std::size_t imprint_bytes = 0;  // while rows are imprinted
  bool judges_while_training = false;
  bool asks_plain = false;        // training samples are also asked as they are (portion.h)
  std::size_t known_samples = 0;  // NightPlanInput's
  std::size_t decoding_room = 0;  // what decoding samples may take (decoding.h)
  std::int64_t steps = 0;         // of the whole night; so are the bytes swapped
  std::uint64_t swap_read_bytes = 0, swap_written_bytes = 0;

  KernelChoices choices() const;
  KernelChoices kernel_profile() const;  // what measurements led to
};

inline constexpr std::int64_t kBackboneBatch = 16;

struct NightPlanInput {
  const StoredModel& base;  // the model before the night, as it is in the store
  const data::Mix& mix;
  const daemon::JobSpec& spec;
  std::size_t known_samples = 0;  // in the global pack and in the label store
  bool rows_anew = false;         // plan_imprint()'s
  DecodingNeeds decoding = {};    // of the mix's samples
  KernelChoices recorded = {};    // to use
  KernelChoices profile = {};     // that led to them, or will
  std::filesystem::path swap_folder = {};
  std::optional<TrainingMemory> memory = {};  // as recorded; empty: fitted to the job's budget
  // Only to tell what it needs: kernels are not measured, nor is the disk.
  bool dry = false;
  MeasuringTime* measuring = nullptr;  // of kernels; null: as long as it takes
  // For feature maps, bytes; empty: as much as they take. What was chosen by it, as recorded.
  std::optional<std::uint64_t> map_room = {};
  std::string map_split = {};
  // Asked for who computes feature maps; null: the CPU.
  ProcessorChooser* processors = nullptr;
  // Who computes what of training.
  Placement training = {};
};
// kInvalidArgument, with both numbers, for a budget or a limit of bytes written that cannot be met.
[[nodiscard]] NightModel plan_night(const NightPlanInput& input);

}  // namespace moil::night
