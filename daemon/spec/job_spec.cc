#include "daemon/spec/job_spec.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>

namespace moil::daemon {
namespace {

constexpr double kHuge = 1e9;
constexpr double kSmallestEpsilon = 1e-30;  // that is not 0 in fp32
constexpr std::int64_t kExactInteger = (std::int64_t{1} << 53) - 1;

std::optional<std::string> check_path(const std::string& path) {
  if (path.empty()) return "expected a path, found an empty string";
  if (path[0] != '/') return "expected an absolute path, found \"" + path + "\"";
  if (path.find('\0') != std::string::npos) return "a path may not hold a zero byte";
  return std::nullopt;
}

std::optional<std::string> check_title(const std::string& title) {
  if (!title.empty() && title.size() <= 200) return std::nullopt;
  return "expected 1 to 200 characters, found " + std::to_string(title.size());
}

std::optional<std::string> check_labels(const std::optional<std::vector<std::string>>& labels) {
  if (!labels) return std::nullopt;
  if (labels->empty()) return "expected at least one label; leave it out to use all";
  std::set<std::string> seen;
  for (const std::string& label : *labels) {
    if (!seen.insert(label).second) return "the label \"" + label + "\" is named twice";
  }
  return std::nullopt;
}

// Checks an optional if it holds a number.
template <class Complain>
auto of_number(Complain complain) {
  return [complain](const auto& value) -> std::optional<std::string> {
    if constexpr (requires { value.has_value(); }) {
      return value ? complain(static_cast<double>(*value)) : std::nullopt;
    } else {
      return complain(static_cast<double>(value));
    }
  };
}

auto positive(double most = kHuge) {
  return of_number([most](double v) -> std::optional<std::string> {
    if (v > 0 && v <= most) return std::nullopt;
    return "expected a number greater than 0 and at most " + Json(most).dump() + ", found " +
           Json(v).dump();
  });
}

// [0, 1): momentum and the betas diverge at 1, also at what is 1 in fp32.
auto below_one() {
  return of_number([](double v) -> std::optional<std::string> {
    if (v >= 0 && static_cast<float>(v) < 1) return std::nullopt;
    return "expected a number from 0 to less than 1, found " + Json(v).dump();
  });
}

}  // namespace

EnumNames<StoredFloats> enum_names(StoredFloats) {
  return {{StoredFloats::kFp32, "fp32"}, {StoredFloats::kBf16, "bf16"}};
}

EnumNames<OptimizerType> enum_names(OptimizerType) {
  return {{OptimizerType::kSgd, "sgd"},
          {OptimizerType::kSgdw, "sgdw"},
          {OptimizerType::kAdam, "adam"},
          {OptimizerType::kAdamw, "adamw"}};
}

EnumNames<TrainingMethod> enum_names(TrainingMethod) {
  return {{TrainingMethod::kFull, "full"},
          {TrainingMethod::kLastLayer, "last_layer"},
          {TrainingMethod::kBnBias, "bn_bias"}};
}

EnumNames<ElasticPace> enum_names(ElasticPace) {
  return {{ElasticPace::kFront, "front"}, {ElasticPace::kEven, "even"}};
}

EnumNames<Importance> enum_names(Importance) {
  return {{Importance::kLoss, "loss"},
          {Importance::kGradient, "gradient"},
          {Importance::kUpdate, "update"}};
}

EnumNames<ScheduleType> enum_names(ScheduleType) {
  return {{ScheduleType::kConstant, "constant"},
          {ScheduleType::kStep, "step"},
          {ScheduleType::kCosine, "cosine"},
          {ScheduleType::kExponential, "exponential"}};
}

EnumNames<Settings> enum_names(Settings) {
  return {{Settings::kAuto, "auto"}, {Settings::kDefaults, "defaults"}};
}

EnumNames<SwapWhen> enum_names(SwapWhen) {
  return {{SwapWhen::kAuto, "auto"},
          {SwapWhen::kOff, "off"},
          {SwapWhen::kOnDemand, "on_demand"},
          {SwapWhen::kReduced, "reduced"},
          {SwapWhen::kProactive, "proactive"}};
}

EnumNames<ProcessorUse> enum_names(ProcessorUse) {
  return {{ProcessorUse::kAuto, "auto"},
          {ProcessorUse::kCpu, "cpu"},
          {ProcessorUse::kOpencl, "opencl"},
          {ProcessorUse::kStepWise, "step_wise"},
          {ProcessorUse::kLayerWise, "layer_wise"},
          {ProcessorUse::kPath, "path"}};
}

namespace fields_internal {

namespace {

void read_layers(const Json& v, TrainableLayers& out, const std::string& at, FieldErrors& errors) {
  out.count.reset();
  if (v == "all") return;
  if (!v.is_number_integer() || v < 0 || v > 100000)
    return wrong_type("an integer from 0 to 100000 or \"all\"", v, at, errors);
  out.count = v.get<int>();
}

Json write_layers(const TrainableLayers& v) { return v.all() ? Json("all") : Json(*v.count); }

}  // namespace

// An integer from 0, or "all".
template <>
const Codec& codec_of<TrainableLayers>() {
  static const OwnCodec<TrainableLayers> codec(read_layers, write_layers);
  return codec;
}

}  // namespace fields_internal

const Fields<GlobalSpec>& fields_of(const GlobalSpec*) {
  static const Fields<GlobalSpec> table = {
      field("pack", &GlobalSpec::pack, Need::kRequired, check_path),
      field("alpha", &GlobalSpec::alpha, Need::kOptional, between(0.0, 1.0)),
      field("limit", &GlobalSpec::limit, Need::kOptional, between(std::int64_t{1}, kExactInteger)),
  };
  return table;
}

const Fields<LocalSpec>& fields_of(const LocalSpec*) {
  static const Fields<LocalSpec> table = {
      field("labels", &LocalSpec::labels, Need::kOptional, check_labels),
  };
  return table;
}

const Fields<FreezeSpec>& fields_of(const FreezeSpec*) {
  static const Fields<FreezeSpec> table = {
      field("trainable_layers", &FreezeSpec::trainable_layers),
      field("batch_norms", &FreezeSpec::batch_norms),
  };
  return table;
}

const Fields<CacheSpec>& fields_of(const CacheSpec*) {
  static const Fields<CacheSpec> table = {
      field("enabled", &CacheSpec::enabled),
      field("dtype", &CacheSpec::dtype),
  };
  return table;
}

const Fields<AugmentSpec>& fields_of(const AugmentSpec*) {
  static const Fields<AugmentSpec> table = {
      field("views", &AugmentSpec::views, Need::kOptional, between(1, 64)),
      field("flip", &AugmentSpec::flip),
  };
  return table;
}

const Fields<OptimizerSpec>& fields_of(const OptimizerSpec*) {
  static const Fields<OptimizerSpec> table = {
      field("type", &OptimizerSpec::type),
      field("learning_rate", &OptimizerSpec::learning_rate, Need::kOptional, positive()),
      field("momentum", &OptimizerSpec::momentum, Need::kOptional, below_one()),
      field("nesterov", &OptimizerSpec::nesterov),
      field("weight_decay", &OptimizerSpec::weight_decay, Need::kOptional, between(0.0, kHuge)),
      field("beta1", &OptimizerSpec::beta1, Need::kOptional, below_one()),
      field("beta2", &OptimizerSpec::beta2, Need::kOptional, below_one()),
      field("epsilon", &OptimizerSpec::epsilon, Need::kOptional, between(kSmallestEpsilon, 1.0)),
      field("backbone_factor", &OptimizerSpec::backbone_factor, Need::kOptional, positive()),
  };
  return table;
}

const Fields<ScheduleSpec>& fields_of(const ScheduleSpec*) {
  static const Fields<ScheduleSpec> table = {
      field("type", &ScheduleSpec::type),
      field("warmup_epochs", &ScheduleSpec::warmup_epochs, Need::kOptional, between(0.0, kHuge)),
      field("step_epochs", &ScheduleSpec::step_epochs, Need::kOptional, positive()),
      field("gamma", &ScheduleSpec::gamma, Need::kOptional, positive(1)),
      field("final_fraction", &ScheduleSpec::final_fraction, Need::kOptional, between(0.0, 1.0)),
  };
  return table;
}

const Fields<TrainSpec>& fields_of(const TrainSpec*) {
  static const Fields<TrainSpec> table = {
      field("method", &TrainSpec::method),
      field("epochs", &TrainSpec::epochs, Need::kOptional, between(0, 100000)),
      field("batch", &TrainSpec::batch, Need::kOptional, between(1, 65536)),
      field("optimizer", &TrainSpec::optimizer),
      field("schedule", &TrainSpec::schedule),
      field("micro_batch", &TrainSpec::micro_batch, Need::kOptional, between(1, 65536)),
      field("distill", &TrainSpec::distill, Need::kOptional, between(0.0, 1.0)),
      field("clip_norm", &TrainSpec::clip_norm, Need::kOptional, positive()),
      field("checkpoint_seconds", &TrainSpec::checkpoint_seconds, Need::kOptional,
            between(0.0, 86400.0)),
  };
  return table;
}

const Fields<ElasticSpec>& fields_of(const ElasticSpec*) {
  static const Fields<ElasticSpec> table = {
      field("rho", &ElasticSpec::rho, Need::kOptional, between(0.01, 1.0)),
      field("pace", &ElasticSpec::pace),
      field("interval_epochs", &ElasticSpec::interval_epochs, Need::kOptional, between(1, 100000)),
      field("probe_samples", &ElasticSpec::probe_samples, Need::kOptional, between(1, 4096)),
      field("resolution", &ElasticSpec::resolution, Need::kOptional, between(100, 10000000)),
      field("importance", &ElasticSpec::importance),
      field("follow_speed", &ElasticSpec::follow_speed),
  };
  return table;
}

const Fields<MemorySpec>& fields_of(const MemorySpec*) {
  static const Fields<MemorySpec> table = {
      field("budget_bytes", &MemorySpec::budget_bytes, Need::kOptional,
            between(std::int64_t{1}, kExactInteger)),
      field("saved", &MemorySpec::saved),
  };
  return table;
}

const Fields<SwapSpec>& fields_of(const SwapSpec*) {
  static const Fields<SwapSpec> table = {
      field("mode", &SwapSpec::mode),
      field("max_write_bytes", &SwapSpec::max_write_bytes, Need::kOptional,
            between(std::int64_t{0}, kExactInteger)),
  };
  return table;
}

const Fields<GuardSpec>& fields_of(const GuardSpec*) {
  static const Fields<GuardSpec> table = {
      field("max_global_drop", &GuardSpec::max_global_drop, Need::kOptional, between(0.0, 1.0)),
      field("min_local_accuracy", &GuardSpec::min_local_accuracy, Need::kOptional,
            between(0.0, 1.0)),
  };
  return table;
}

const Fields<CanarySpec>& fields_of(const CanarySpec*) {
  static const Fields<CanarySpec> table = {
      field("contradictions", &CanarySpec::contradictions, Need::kOptional, between(1, 1000)),
      field("significance", &CanarySpec::significance, Need::kOptional, between(1e-6, 0.5)),
  };
  return table;
}

const Fields<JobSpec>& fields_of(const JobSpec*) {
  static const Fields<JobSpec> table = {
      field("name", &JobSpec::name, Need::kRequired, check_title),
      field("model", &JobSpec::model, Need::kRequired, check_name),
      field("settings", &JobSpec::settings),
      field("global", &JobSpec::global, Need::kRequired),
      field("local", &JobSpec::local),
      field("freeze", &JobSpec::freeze),
      field("cache", &JobSpec::cache),
      field("augment", &JobSpec::augment),
      field("train", &JobSpec::train),
      field("elastic", &JobSpec::elastic),
      field("deadline_seconds", &JobSpec::deadline_seconds, Need::kOptional, positive()),
      field("memory", &JobSpec::memory),
      field("swap", &JobSpec::swap),
      field("guard", &JobSpec::guard),
      field("canary", &JobSpec::canary),
      field("seed", &JobSpec::seed, Need::kOptional,
            between(std::uint64_t{0}, static_cast<std::uint64_t>(kExactInteger))),
      field("activate", &JobSpec::activate),
      field("threads", &JobSpec::threads, Need::kOptional, between(1, 1024)),
      field("processors", &JobSpec::processors),
      field("exact_arithmetic", &JobSpec::exact_arithmetic),
      field("evaluate_every_epoch", &JobSpec::evaluate_every_epoch),
  };
  return table;
}

namespace {

// What may not stand beside what.
class Complaints {
 public:
  void add(const std::string& pointer, const std::string& message) {
    errors_.push_back({pointer, message});
  }
  // A field that these types alone read, if it is given and the type is none of them.
  template <class T, class Type>
  void unread(const std::string& parent, const char* name, const std::optional<T>& value, Type type,
              std::initializer_list<Type> readers) {
    if (!value || std::ranges::find(readers, type) != readers.end()) return;
    std::string known;
    for (const Type reader : readers) known += (known.empty() ? "" : ", ") + name_of(reader);
    add(parent + "/" + name,
        "\"" + name_of(type) + "\" does not read it (" + known + "); leave it out");
  }
  FieldErrors take() { return std::move(errors_); }

 private:
  FieldErrors errors_;
};

void check_optimizer(const OptimizerSpec& o, Complaints& complaints) {
  using enum OptimizerType;
  const std::string at = "/train/optimizer";
  complaints.unread(at, "momentum", o.momentum, o.type, {kSgd, kSgdw});
  const std::optional<bool> nesterov = o.nesterov ? std::optional(true) : std::nullopt;
  complaints.unread(at, "nesterov", nesterov, o.type, {kSgd, kSgdw});
  complaints.unread(at, "beta1", o.beta1, o.type, {kAdam, kAdamw});
  complaints.unread(at, "beta2", o.beta2, o.type, {kAdam, kAdamw});
  complaints.unread(at, "epsilon", o.epsilon, o.type, {kAdam, kAdamw});
  if (o.nesterov && o.momentum == 0.0)
    complaints.add(at + "/nesterov", "it needs a momentum above 0, found 0");
}

void check_schedule(const ScheduleSpec& s, Complaints& complaints) {
  using enum ScheduleType;
  const std::string at = "/train/schedule";
  complaints.unread(at, "step_epochs", s.step_epochs, s.type, {kStep});
  complaints.unread(at, "gamma", s.gamma, s.type, {kStep, kExponential});
  complaints.unread(at, "final_fraction", s.final_fraction, s.type, {kCosine});
}

void check_choosers(const JobSpec& spec, Complaints& complaints) {
  if (!spec.elastic && !spec.deadline_seconds) return;
  const std::string name = spec.elastic ? "\"elastic\"" : "\"deadline_seconds\"";
  if (spec.train.method != TrainingMethod::kFull)
    complaints.add("/train/method", name + " chooses what to train: leave the method out");
  if (spec.swap.mode != SwapWhen::kAuto && spec.swap.mode != SwapWhen::kOff)
    complaints.add("/swap/mode",
                   name + " makes many plans, and swap is timed for one: it may be auto or off");
}

// Elastic training probes gradients and times tensors on the CPU; sums of another processor round
// otherwise.
void check_processors(const JobSpec& spec, Complaints& complaints) {
  if (spec.processors == ProcessorUse::kAuto || spec.processors == ProcessorUse::kCpu) return;
  if (spec.elastic || spec.deadline_seconds)
    complaints.add("/processors",
                   std::string(spec.elastic ? "\"elastic\"" : "\"deadline_seconds\"") +
                       " times tensors on the CPU: it may be auto or cpu");
  if (spec.exact_arithmetic)
    complaints.add("/processors", "\"exact_arithmetic\" is the CPU's alone: it may be auto or cpu");
}

void check_epochs(const JobSpec& spec, Complaints& complaints) {
  if (spec.train.epochs > 0) return;
  if (spec.elastic) complaints.add("/elastic", "nothing trains in 0 epochs; leave it out");
  if (spec.deadline_seconds)
    complaints.add("/deadline_seconds", "nothing trains in 0 epochs; leave it out");
}

}  // namespace

JobSpec job_spec_from_json(const Json& document) {
  JobSpec spec = read_fields<JobSpec>(document, "the job description");
  if (FieldErrors wrong = check_job(spec); !wrong.empty())
    throw ValidationError("the job description", std::move(wrong));
  return spec;
}

JobSpec stored_job_spec(const Json& document) { return read_stored_fields<JobSpec>(document); }

FieldErrors check_job(const JobSpec& spec) {
  Complaints complaints;
  check_optimizer(spec.train.optimizer, complaints);
  check_schedule(spec.train.schedule, complaints);
  check_choosers(spec, complaints);
  check_processors(spec, complaints);
  check_epochs(spec, complaints);
  return complaints.take();
}

Json to_json(const JobSpec& spec) { return write_fields(spec); }

std::optional<std::string> check_name(const std::string& name) {
  const std::string expected =
      "expected 1 to 64 letters, digits, '.', '_' or '-', not starting with '.'";
  if (name.empty() || name.size() > 64 || name[0] == '.')
    return expected + ", found \"" + name + "\"";
  for (const char c : name) {
    const bool fine =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    if (!fine) return expected + ", found \"" + name + "\"";
  }
  return std::nullopt;
}

}  // namespace moil::daemon
