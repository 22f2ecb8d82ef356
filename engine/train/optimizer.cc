#include "engine/train/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "engine/device/processor.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/kernels/rows/update.h"

namespace moil {
namespace {

using Name = std::string_view;
constexpr std::array<Name, 1> kMomentumState = {"momentum"};
constexpr std::array<Name, 2> kAdamState = {"exp_avg", "exp_avg_sq"};

// The part of weight decay that enters the gradient, and the factor that shrinks the weight.
struct Decay {
  double in_gradient = 0, shrink = 1;
};

Decay decay_of(const OptimizerStep& step, double weight_decay, bool decoupled) {
  if (!step.decays || weight_decay == 0) return {};
  if (decoupled) return {0, 1 - step.learning_rate * weight_decay};
  return {weight_decay, 1};
}

// update(offset in the weight, its gradient, begin, end), for all that has a gradient.
template <class Update>
void over_elements(const OptimizerStep& step, const Update& update) {
  if (!step.has_rows()) {
    parallel_for(step.elements, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      update(std::int64_t{0}, step.gradient, begin, end);
    });
    return;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / step.row_elements);
  parallel_for(static_cast<std::int64_t>(step.rows.size()), grain,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = begin; r < end; ++r)
                   update(step.rows[static_cast<std::size_t>(r)] * step.row_elements,
                          step.gradient + r * step.row_elements, std::int64_t{0},
                          step.row_elements);
               });
}

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const OptimizerConfig& config) : config_(config) {}

  std::span<const Name> state_tensors() const override {
    if (config_.momentum == 0) return {};
    return kMomentumState;
  }

  void apply(const OptimizerStep& step) const override {
    const Decay decay = decay_of(step, config_.weight_decay, config_.kind == OptimizerKind::kSgdw);
    SgdCoefficients k;
    k.rate = static_cast<float>(step.learning_rate);
    k.gradient_scale = static_cast<float>(step.gradient_scale);
    k.decay = static_cast<float>(decay.in_gradient);
    k.shrink = static_cast<float>(decay.shrink);
    k.momentum = static_cast<float>(config_.momentum);
    k.nesterov = config_.nesterov;
    if (step.elsewhere) return step.elsewhere->update(k);
    float* momentum = config_.momentum == 0 ? nullptr : step.state[0];
    over_elements(
        step, [&](std::int64_t at, const float* gradient, std::int64_t begin, std::int64_t end) {
          sgd_update(k, step.weight + at, gradient, momentum ? momentum + at : nullptr, begin, end);
        });
  }

 private:
  const OptimizerConfig config_;
};

class Adam final : public Optimizer {
 public:
  explicit Adam(const OptimizerConfig& config) : config_(config) {}

  std::span<const Name> state_tensors() const override { return kAdamState; }

  void apply(const OptimizerStep& step) const override {
    const Decay decay = decay_of(step, config_.weight_decay, config_.kind == OptimizerKind::kAdamw);
    const auto t = static_cast<double>(step.step);
    AdamCoefficients k;
    k.rate = static_cast<float>(step.learning_rate / (1 - std::pow(config_.beta1, t)));
    k.gradient_scale = static_cast<float>(step.gradient_scale);
    k.decay = static_cast<float>(decay.in_gradient);
    k.shrink = static_cast<float>(decay.shrink);
    k.beta1 = static_cast<float>(config_.beta1);
    k.beta2 = static_cast<float>(config_.beta2);
    k.rest1 = static_cast<float>(1 - config_.beta1);
    k.rest2 = static_cast<float>(1 - config_.beta2);
    k.root_scale = static_cast<float>(1 / std::sqrt(1 - std::pow(config_.beta2, t)));
    k.epsilon = static_cast<float>(config_.epsilon);
    if (step.elsewhere) return step.elsewhere->update(k);
    over_elements(
        step, [&](std::int64_t at, const float* gradient, std::int64_t begin, std::int64_t end) {
          adam_update(k, step.weight + at, gradient, step.state[0] + at, step.state[1] + at, begin,
                      end);
        });
  }

 private:
  const OptimizerConfig config_;
};

void require_of_optimizer(bool holds, const char* what) {
  if (!holds) throw Error(ErrorCode::kInvalidArgument, std::string("optimizer: ") + what);
}

bool is_adam(OptimizerKind kind) {
  return kind == OptimizerKind::kAdam || kind == OptimizerKind::kAdamw;
}

void check(const OptimizerConfig& c) {
  require_of_optimizer(c.learning_rate >= 0 && std::isfinite(c.learning_rate),
                       "learning_rate must be at least 0");
  require_of_optimizer(c.weight_decay >= 0 && std::isfinite(c.weight_decay),
                       "weight_decay must be at least 0");
  require_of_optimizer(c.momentum >= 0 && c.momentum < 1,
                       "momentum must be at least 0 and below 1");
  require_of_optimizer(!c.nesterov || c.momentum > 0, "nesterov needs a momentum above 0");
  require_of_optimizer(!is_adam(c.kind) || c.momentum == 0,
                       "adam and adamw take beta1, not momentum");
  require_of_optimizer(c.beta1 >= 0 && c.beta1 < 1, "beta1 must be at least 0 and below 1");
  require_of_optimizer(c.beta2 >= 0 && c.beta2 < 1, "beta2 must be at least 0 and below 1");
  require_of_optimizer(c.epsilon >= 0 && std::isfinite(c.epsilon), "epsilon must be at least 0");
  require_of_optimizer(!c.custom.empty() || c.parameters.empty(),
                       "parameters are for custom optimizers");
}

constexpr std::array kBuiltIn = {OptimizerKind::kSgd, OptimizerKind::kSgdw, OptimizerKind::kAdam,
                                 OptimizerKind::kAdamw};

std::map<std::string, OptimizerMaker>& custom_optimizers() {
  static std::map<std::string, OptimizerMaker> makers;
  return makers;
}

std::unique_ptr<Optimizer> make_custom(const OptimizerConfig& config) {
  const auto it = custom_optimizers().find(config.custom);
  if (it != custom_optimizers().end()) return it->second(config);
  std::string known;
  for (const auto& type : custom_optimizer_types()) known += (known.empty() ? "" : ", ") + type;
  throw Error(ErrorCode::kInvalidArgument,
              "unknown custom optimizer \"" + config.custom +
                  "\"; registered: " + (known.empty() ? "none" : known));
}

}  // namespace

std::string_view to_string(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return "sgd";
    case OptimizerKind::kSgdw:
      return "sgdw";
    case OptimizerKind::kAdam:
      return "adam";
    case OptimizerKind::kAdamw:
      return "adamw";
  }
  return "?";
}

OptimizerKind optimizer_kind(std::string_view name) {
  for (const auto kind : kBuiltIn) {
    if (to_string(kind) == name) return kind;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "unknown optimizer \"" + std::string(name) + "\"; known: sgd, sgdw, adam, adamw");
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config) {
  check(config);
  if (!config.custom.empty()) return make_custom(config);
  if (is_adam(config.kind)) return std::make_unique<Adam>(config);
  return std::make_unique<Sgd>(config);
}

double default_momentum(OptimizerKind kind) { return is_adam(kind) ? 0 : 0.9; }

std::size_t states_of_weight(const OptimizerConfig& config) {
  return make_optimizer(config)->state_tensors().size();
}

void register_optimizer(const std::string& type, OptimizerMaker maker) {
  for (const auto kind : kBuiltIn) {
    if (to_string(kind) == type)
      throw Error(ErrorCode::kInvalidArgument, "optimizer \"" + type + "\" is built in");
  }
  custom_optimizers().insert_or_assign(type, std::move(maker));
}

std::vector<std::string> custom_optimizer_types() {
  std::vector<std::string> types;
  for (const auto& [type, maker] : custom_optimizers()) types.push_back(type);
  return types;
}

}  // namespace moil
