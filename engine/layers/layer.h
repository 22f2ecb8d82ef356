// The interface of a layer: what it declares before the first step, and what its steps compute.
//
// A layer is built from its description, asked for shapes and weights, then asked once to plan: it
// says which of its tensors each of its steps F (forward), CG (compute gradient: of its weights)
// and CD (compute derivative: of its inputs) reads and writes. From that alone the graph derives
// execution orders, lifespans and addresses (NNTrainer 2024 §3). A step then runs on pointers into
// the pool: it allocates nothing and keeps no pointer.
//
// Images are of rank 4 and Layout::kChannelsLast ([N,H,W,C] in memory, dims logical [N,C,H,W]), as
// every input of rank 4 is; everything else is plain, row-major.
// A layer object serves one plan and one thread at a time; its steps may use threads inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/operation.h"
#include "engine/tensor/spec.h"

namespace moil {

class KernelSelector;

// How a weight's elements lie in memory, against the order model files use (PyTorch's).
enum class WeightOrder : std::uint8_t {
  kPlain,        // the same
  kConvolution,  // file [O, I/g, KH, KW]; memory [g][KH][KW][I/g][O/g]
  kDepthwise,    // file [C, 1, KH, KW]; memory [KH][KW][C]
};

enum class Initializer : std::uint8_t {
  kZeros,
  kOnes,
  kHeNormal,
  kXavierUniform,
  kUniformFanIn,
  kQuarter
};

struct WeightSpec {
  std::string name;  // "weight", "bias", "gamma", "beta", "running_mean", "running_var"
  Dims dims;         // in file order
  WeightOrder order = WeightOrder::kPlain;
  Initializer init = Initializer::kZeros;
  std::int64_t fan_in = 1, fan_out = 1;
  bool trainable = true;    // false: a statistic that F updates itself (batch norm)
  bool decays = true;       // whether weight decay applies (not to biases and norms)
  std::int64_t groups = 1;  // for kConvolution
  // Set by the graph. The weight's name in files: "LAYER.WEIGHT", another layer's if it is shared.
  std::string full_name = {};
  bool shared = false;   // another layer has it, too
  bool repeats = false;  // a layer before this one has it
};

// What the graph tells a layer when it plans.
struct LayerSetup {
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;           // as infer_outputs said
  bool training = false;                     // batch statistics, dropout on
  std::vector<bool> train_weight;            // one a weight spec
  std::vector<bool> input_needs_derivative;  // one an input
  KernelSelector* kernels = nullptr;         // which provider computes what; never null
  // Bytes of workspace that each step may take without the plan growing. A wish: what needs more
  // and has no leaner way takes it.
  struct {
    std::size_t forward = kNoLimit, gradient = kNoLimit, derivative = kNoLimit;
  } workspace_limits;
  bool pack_convolutions = true;          // inference (PlanOptions)
  bool forward_elsewhere = false;         // another processor may compute F: weights stay unpacked
  int micro_batches = 1;                  // whose gradients add up
  std::vector<bool> dense_gradient = {};  // one a weight spec: it may not be of rows
  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

  bool computes_gradient() const {
    for (const bool t : train_weight)
      if (t) return true;
    return false;
  }
  bool computes_derivative() const {
    for (const bool n : input_needs_derivative)
      if (n) return true;
    return false;
  }
};

// Memory of the layer's own that outlives a step (masks, batch statistics, argmax, packed weights).
struct SavedSpec {
  std::string name;
  std::size_t bytes = 0;
  Lifespan lifespan = Lifespan::kForward;  // kMax: lives always, zeroed when the plan is made
};

// How output 0 relates to input 0 in memory. The graph honours a wish only if it is legal.
enum class InPlace : std::uint8_t {
  kNo,
  kModify,    // F may write its output over its input; CD its input derivative over the output's
  kSameData,  // the output is the input in another shape (or several times): no work in F at all
};

// What the layer answers. Only steps that will be scheduled count: a lifespan named for a step that
// nobody needs costs nothing.
struct LayerPlan {
  std::vector<Lifespan> inputs;   // steps that read input i's value; default F
  std::vector<Lifespan> outputs;  // steps besides F that read output i's value
  // Steps besides F and AG that read the weights.
  Lifespan weights = Lifespan::kComputeDerivative;
  // Steps that read the derivative of the outputs; CG for a bias alone reads only this.
  Lifespan output_derivatives = Lifespan::kComputeGradient | Lifespan::kComputeDerivative;
  std::vector<SavedSpec> saved;
  std::size_t forward_workspace = 0, gradient_workspace = 0, derivative_workspace = 0;  // bytes
  InPlace in_place = InPlace::kNo;  // output 0 (kSameData: every output) over input 0, in F
  // The input derivatives over output derivative 0, in CD. kModify: of input 0 alone. kSameData:
  // every input derivative is the output's (addition, reshape), and CD has no work.
  InPlace derivative_in_place = InPlace::kNo;
  // F writes the weights that are not trainable. Else it reads them alone, as constants and frozen
  // statistics are, and a plan that swaps need not store them.
  bool updates_statistics = true;
  // F that runs again finds the batch's statistics among its saved tensors (LayerRun::again).
  bool saves_statistics = false;
  // A sample's result depends on its batch (batch statistics): it cannot be cut into micro-batches.
  bool mixes_samples = false;
  // One a weight; false: it is read in weights_changed() alone (inference, packed into a saved
  // tensor), the pool holds no room for it, and its pointer is null in F. Empty: all are kept.
  std::vector<bool> keeps_weight;
  // One a weight: the most rows of its gradient that the micro-batches of a step touch together. CG
  // then leaves a RowGradient (tensor/row_gradient.h). 0, or empty: the gradient is dense.
  std::vector<std::int64_t> gradient_rows = {};
  std::int64_t rows_of_gradient(std::size_t weight) const {
    return gradient_rows.empty() ? 0 : gradient_rows[weight];
  }
  bool keeps(std::size_t weight) const { return keeps_weight.empty() || keeps_weight[weight]; }
};

// Pointers of one step. What the step does not touch, by what the layer planned, is null. Elements
// are float32 unless the tensor's TensorInfo says otherwise: then see as().
struct LayerRun {
  std::span<const float* const> inputs;
  std::span<float* const> outputs;
  std::span<const float* const> output_derivatives;  // null if nobody behind needs it
  std::span<float* const> input_derivatives;         // null if not needed; CD overwrites
  std::span<float* const> weights;                   // in memory order
  std::span<float* const> gradients;                 // null if not trained
  std::span<std::byte* const> saved;
  std::byte* workspace = nullptr;
  bool accumulate = false;    // CG adds to all gradients instead of overwriting them
  std::uint32_t adds_to = 0;  // CG adds to these: bit w is weight w, shared with a later layer
  bool again = false;  // F ran before in this step: the same outputs, and nothing else is written
  std::int64_t first_sample = 0;  // of a micro-batch, in its batch
  std::uint64_t random_key = 0;   // differs per (seed, iteration, layer); the same in F, CG and CD

  // Whether CG adds to the gradient of a weight.
  bool adds(std::size_t weight) const { return accumulate || (adds_to >> weight & 1) != 0; }
  // A pointer of the lists above as its elements are.
  template <class T>
  static const T* as(const float* tensor) {
    return reinterpret_cast<const T*>(tensor);
  }
};

class Layer {
 public:
  virtual ~Layer() = default;
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  virtual std::string_view type() const = 0;

  // Shapes from shapes, batch included. Throws kInvalidArgument saying what was found and expected.
  [[nodiscard]] virtual std::vector<TensorInfo> infer_outputs(
      std::span<const TensorInfo> inputs) const = 0;
  [[nodiscard]] virtual std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const;

  // Called after shapes are known, again if memory is planned again: the last call counts. The
  // layer may prepare kernels and keep what it needs.
  [[nodiscard]] virtual LayerPlan plan(const LayerSetup& setup) = 0;

  // What its steps compute as it was last planned, for other processors; the first alternative
  // if its own code alone knows.
  [[nodiscard]] virtual Operation operation() const { return {}; }

  // After weights were loaded or changed from outside (inference plans may pack them here into a
  // saved tensor of lifespan kMax).
  virtual void weights_changed(const LayerRun&) {}

  virtual void forward(const LayerRun& run) = 0;
  virtual void compute_gradient(const LayerRun& run);    // default: throws kInternal
  virtual void compute_derivative(const LayerRun& run);  // default: throws kInternal
};

}  // namespace moil
