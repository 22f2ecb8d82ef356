// What one night's job is to do: the job description as a client submits it (JSON) and as the
// daemon stores it and the worker reads it. One struct, one field table (job_spec.cc): a new field
// is a member here and a line there. docs/job.md explains every field to users.
//
// Fractions run from 0 to 1. Members hold the defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::daemon {

// Where D_M = D_L u SamplePerClass(D_G, alpha) takes D_G from (GDM).
struct GlobalSpec {
  std::string pack;                   // path of the global pack, absolute
  double alpha = 0.1;                 // sharing ratio
  std::optional<std::int64_t> limit;  // draw at most this many samples of the pack
  bool operator==(const GlobalSpec&) const = default;
};

struct LocalSpec {
  std::optional<std::vector<std::string>> labels;  // empty: all labels of the label store
  bool operator==(const LocalSpec&) const = default;
};

// LF(n): the last n layers with weights are trained.
struct TrainableLayers {
  std::optional<int> count;  // empty: "all"
  bool all() const { return !count.has_value(); }
  bool operator==(const TrainableLayers&) const = default;
};

struct FreezeSpec {
  TrainableLayers trainable_layers;
  bool batch_norms = false;  // also those among the trained layers
  bool operator==(const FreezeSpec&) const = default;
};

enum class StoredFloats { kFp32, kBf16 };

// FMC: keep the feature maps of the frozen layers.
struct CacheSpec {
  bool enabled = true;
  StoredFloats dtype = StoredFloats::kFp32;
  bool operator==(const CacheSpec&) const = default;
};

// Augmented views of the training samples (datasets/transforms/view.h).
struct AugmentSpec {
  int views = 1;     // of each sample; 1: the plain one alone
  bool flip = true;  // may mirror
  bool operator==(const AugmentSpec&) const = default;
};

enum class OptimizerType { kSgd, kSgdw, kAdam, kAdamw };

// What only some types read is empty if it was not asked for: the type's default.
struct OptimizerSpec {
  OptimizerType type = OptimizerType::kSgd;
  double learning_rate = 0.01;
  std::optional<double> momentum;  // sgd, sgdw
  bool nesterov = false;           // sgd, sgdw
  double weight_decay = 0;
  std::optional<double> beta1, beta2, epsilon;  // adam, adamw
  // Learning rate of trained layers before the classifier, as a part of the classifier's.
  double backbone_factor = 1;
  bool operator==(const OptimizerSpec&) const = default;
};

enum class ScheduleType { kConstant, kStep, kCosine, kExponential };

struct ScheduleSpec {
  ScheduleType type = ScheduleType::kConstant;
  double warmup_epochs = 0;              // linear from a tenth of the learning rate to all of it
  std::optional<double> step_epochs;     // step: multiply by gamma every so many epochs
  std::optional<double> gamma;           // step, exponential (per epoch)
  std::optional<double> final_fraction;  // cosine: of the learning rate, at the end
  bool operator==(const ScheduleSpec&) const = default;
};

// Which tensors of the trained layers learn.
enum class TrainingMethod {
  kFull,
  kLastLayer,  // the classifier's: traditional transfer learning
  kBnBias      // gammas, betas and biases, and the classifier's
};

struct TrainSpec {
  TrainingMethod method = TrainingMethod::kFull;
  int epochs = 10;  // 0: nothing trains; rows of new labels are imprinted
  int batch = 32;
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  std::optional<int> micro_batch;  // samples in memory at once, at most; empty: as the budget asks
  // Weight of what the model before the night says of global samples, in their targets.
  double distill = 1;
  std::optional<double> clip_norm;  // global norm of the gradients; empty: no clipping
  double checkpoint_seconds = 30;   // at least one checkpoint in so many seconds
  bool operator==(const TrainSpec&) const = default;
};

enum class Importance { kLoss, kGradient, kUpdate };
enum class ElasticPace { kFront, kEven };

// Elastic tensor selection (ElasticTrainer): what learns is chosen anew every few epochs.
struct ElasticSpec {
  double rho = 0.5;  // a step's mean time, of a full step's
  ElasticPace pace = ElasticPace::kFront;
  int interval_epochs = 3;
  int probe_samples = 4;
  int resolution = 100000;  // of the selector (T_q)
  Importance importance = Importance::kLoss;
  bool follow_speed = true;  // of a machine that is throttled or busy
  bool operator==(const ElasticSpec&) const = default;
};

struct MemorySpec {
  std::optional<std::int64_t> budget_bytes;  // of the whole night; empty: no limit
  StoredFloats saved = StoredFloats::kFp32;  // of what F leaves for backward
  bool operator==(const MemorySpec&) const = default;
};

// kAuto: proactive if the budget needs it. The others: always so, or never.
enum class SwapWhen { kAuto, kOff, kOnDemand, kReduced, kProactive };

struct SwapSpec {
  SwapWhen mode = SwapWhen::kAuto;
  std::optional<std::int64_t> max_write_bytes;  // of the whole night; empty: no limit
  bool operator==(const SwapSpec&) const = default;
};

// Who computes what of training, if the device has an OpenCL driver (device/selection.h): the
// names are its methods'. kAuto: the cheapest schedule if that is faster than the CPU alone.
enum class ProcessorUse { kAuto, kCpu, kOpencl, kStepWise, kLayerWise, kPath };
EnumNames<ProcessorUse> enum_names(ProcessorUse);

// When a new model is kept back.
struct GuardSpec {
  double max_global_drop = 0.03;  // global accuracy before - after
  double min_local_accuracy = 0;
  bool operator==(const GuardSpec&) const = default;
};

// When a promoted version is rolled back by itself (upkeep/canary.h).
struct CanarySpec {
  int contradictions = 5;      // at least so many labels that its parent would have got right
  double significance = 0.05;  // of a sequential sign test
  bool operator==(const CanarySpec&) const = default;
};

// Who settles the fields that a description leaves out and a night can choose: the night, by trials
// on the device's own samples (night/settings/), or the defaults below.
enum class Settings { kAuto, kDefaults };

struct JobSpec {
  std::string name;
  std::string model;  // in the model store
  Settings settings = Settings::kAuto;
  // JSON pointers of the fields that the night is to choose, of choosable_fields(). They are not
  // written: a description that is read again leaves out the same.
  std::set<std::string, std::less<>> open;
  GlobalSpec global;
  LocalSpec local;
  FreezeSpec freeze;
  CacheSpec cache;
  AugmentSpec augment;
  TrainSpec train;
  std::optional<ElasticSpec> elastic;
  // The whole night's, from its beginning: LF(n) and rho are chosen to end in time.
  std::optional<double> deadline_seconds;
  MemorySpec memory;
  SwapSpec swap;
  GuardSpec guard;
  std::optional<CanarySpec> canary;  // empty: only users roll back
  std::uint64_t seed = 1;            // below 2^53, so that every JSON reader keeps it exact
  bool activate = true;              // put the new version in service
  std::optional<int> threads;
  ProcessorUse processors = ProcessorUse::kAuto;
  bool exact_arithmetic = false;  // only arithmetic that is bit-identical on every machine
  bool evaluate_every_epoch = false;
  bool operator==(const JobSpec&) const = default;
};

// What a night can choose, as JSON pointers.
std::span<const std::string_view> choosable_fields();

// Reads a job description; ValidationError lists everything wrong with it.
JobSpec job_spec_from_json(const Json& document);
// A description that was accepted once, by this build or by one that knew other rules.
JobSpec stored_job_spec(const Json& document);
// The description with every default filled in but for the open fields; job_spec_from_json gives
// the same spec back.
Json to_json(const JobSpec& spec);

const Fields<JobSpec>& fields_of(const JobSpec*);
// Beside the fields: which of them the document leaves open.
template <>
const fields_internal::Codec& fields_internal::codec_of<JobSpec>();
const Fields<CanarySpec>& fields_of(const CanarySpec*);

// Fields that are right by themselves, but not together. With the field table this is all that can
// be told from a description alone; what depends on the model, the pack and the labels is told by
// planning the night (night/night_plan.h), which every submission goes through.
FieldErrors check_job(const JobSpec& spec);

// Names of models and job folders are file names: letters, digits, '.', '_' and '-', at most 64,
// not starting with a '.'. The complaint, or nothing.
std::optional<std::string> check_name(const std::string& name);

}  // namespace moil::daemon
