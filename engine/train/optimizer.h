// Optimizers: one step (AG, apply gradient) on one weight tensor.
//
// An optimizer is a few numbers; what it remembers between steps are state tensors that the plan
// keeps beside each weight (as many elements each, zeroed before the first step, saved in
// checkpoints). apply() works in place, in parallel, allocates nothing, and gives the same bits
// whatever the number of threads. Thread-compatible: const after construction.
//
// sgd, adam and adamw compute what torch.optim does. sgdw is sgd with decoupled decay: w shrinks by
// lr * weight_decay * w first, and the decay never enters the momentum (ElasticTrainer, §5).
// A gradient of rows (an embedding's) updates those rows as a dense one would; weights, momentum
// and moments of the others stand still, and nothing of them decays, as with
// torch.optim.SparseAdam. (torch.optim.SGD moves rows by their momentum as long as it lasts.)
// Users' own ones are registered by name (custom.h); they are given dense gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layers/properties.h"

namespace moil {

class WeightElsewhere;

enum class OptimizerKind : std::uint8_t { kSgd, kSgdw, kAdam, kAdamw };
std::string_view to_string(OptimizerKind kind);
// Throws kInvalidArgument for an unknown name, with the known ones.
[[nodiscard]] OptimizerKind optimizer_kind(std::string_view name);

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::kSgd;
  double learning_rate = 0.01;  // the base that a schedule (train/schedule.h) starts from
  double weight_decay = 0;
  double momentum = 0;                                // sgd, sgdw
  bool nesterov = false;                              // sgd, sgdw; needs a momentum
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam, adamw
  // If not empty: the registered type that takes the place of `kind`, and what its maker reads
  // besides learning_rate and weight_decay.
  std::string custom = {};
  Properties parameters = {};
};

struct OptimizerStep {
  float* weight = nullptr;
  const float* gradient = nullptr;
  std::span<float* const> state;  // one a name of state_tensors(), in that order
  std::int64_t elements = 0;
  bool decays = true;  // WeightSpec::decays
  double learning_rate = 0;
  double gradient_scale = 1;  // the factor of train/clip.h; 1: not clipped
  std::int64_t step = 1;      // this tensor's, counted from 1: adam's bias correction
  // Not null: AG is another processor's, and weight, gradient and state are not to be read.
  const WeightElsewhere* elsewhere = nullptr;
  // Above 0: the gradient holds `rows` of the weight alone, each of so many elements, and
  // `elements` counts them.
  std::int64_t row_elements = 0;
  std::span<const std::int32_t> rows = {};
  bool has_rows() const { return row_elements > 0; }
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Names of what is kept per weight: none, "momentum", or "exp_avg" and "exp_avg_sq". The same in
  // every call.
  virtual std::span<const std::string_view> state_tensors() const = 0;
  virtual void apply(const OptimizerStep& step) const = 0;
};

// Throws kInvalidArgument naming the number that is out of its range, or an unknown custom type
// with the registered ones.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config);
// What a user gets who names no momentum: 0.9; none of adam and adamw, which refuse one.
[[nodiscard]] double default_momentum(OptimizerKind kind);
// Tensors of state that it keeps of a weight, each as large. Throws as make_optimizer().
[[nodiscard]] std::size_t states_of_weight(const OptimizerConfig& config);

// Reads config.parameters (PropertyReader, done() at the end) and builds the optimizer.
// Throws kInvalidArgument.
using OptimizerMaker = std::function<std::unique_ptr<Optimizer>(const OptimizerConfig& config)>;

// Adds or replaces a type of the user's own; kInvalidArgument for a built-in one's name. Not
// thread-safe: before the first optimizer is made.
void register_optimizer(const std::string& type, OptimizerMaker maker);

// The registered ones, without the built-in.
std::vector<std::string> custom_optimizer_types();

}  // namespace moil
