// Recurrent layers over whole sequences, types "rnn", "lstm" and "gru": [N, L, F] -> [N, L, units],
// and their cells, "rnn_cell", "lstm_cell", "gru_cell": one step, [N, F] -> [N, units].
//
// Properties: units, bias (true); of sequences reverse (false: the last step is the first that is
// computed), sequence (true; false: the state behind the last step alone, [N, units]) and unroll
// (false; true: models are trained and run as cells, one a step); of rnn and its cell nonlinearity
// ("tanh" or "relu").
// Weights as PyTorch has them: "weight_ih" [G * units, F], "weight_hh" [G * units, units], and with
// a bias "bias_ih" and "bias_hh" [G * units]; gates in its order (kernels/rows/recurrent.h).
// Inputs behind the first: the state before the first step [N, units], of an lstm its cell, too;
// none: zeros. Then lengths of sequences (lengths.h): steps of padding give zeros and change no
// state. A cell of an lstm gives its cell as output 1; a sequence with the property "state" (false)
// gives the state behind the last step, and the cell, as outputs behind the first.
//
// Gates are kept from F on and become their own derivatives in the first backward step: backward
// takes no more memory for them than F.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/kernels/rows/activation.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/layer.h"

namespace moil {

enum class RecurrentKind : std::uint8_t { kRnn, kLstm, kGru };

struct RecurrentProperties {
  RecurrentKind kind = RecurrentKind::kRnn;
  std::string_view type = "rnn";
  bool is_cell = false;
  std::int64_t units = 1;
  bool bias = true, reverse = false, sequence = true, gives_state = false;
  ActivationKind activation = ActivationKind::kTanh;  // of kRnn
};

class Recurrent final : public Layer {
 public:
  Recurrent(std::string name, const RecurrentProperties& properties)
      : name_(std::move(name)), p_(properties) {}

  std::string_view type() const override { return p_.type; }
  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override;
  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override;
  LayerPlan plan(const LayerSetup& setup) override;
  void forward(const LayerRun& run) override;
  void compute_gradient(const LayerRun& run) override;
  void compute_derivative(const LayerRun& run) override;

 private:
  enum Weight : std::size_t { kOfInput, kOfState, kInputBias, kStateBias };
  // Rows of a matrix, `stride` floats apart.
  struct Rows {
    float* first = nullptr;
    std::int64_t stride = 0;
    float* row(std::int64_t n) const { return first == nullptr ? nullptr : first + n * stride; }
  };

  bool is_gru() const { return p_.kind == RecurrentKind::kGru; }
  std::int64_t gates() const { return p_.kind == RecurrentKind::kLstm ? 4 : is_gru() ? 3 : 1; }
  std::int64_t gate_width() const { return gates() * p_.units; }
  // Of the gates to which the state's part is added: all but the new gate of a gru.
  std::int64_t plain_width() const { return gate_width() - (is_gru() ? p_.units : 0); }
  LinearShape of_inputs() const { return {batch_ * length_, features_, gate_width()}; }
  // How many states pass from step to step.
  std::size_t states() const { return p_.kind == RecurrentKind::kLstm ? 2 : 1; }
  bool keeps_states_apart() const { return !p_.is_cell && !p_.sequence; }
  std::size_t state_bytes() const {
    return static_cast<std::size_t>(batch_ * p_.units) * sizeof(float);
  }
  std::int64_t step_at(std::int64_t place) const {
    return p_.reverse ? length_ - 1 - place : place;
  }

  // One step, a row a sample.
  Rows of_step(float* tensor, std::int64_t step, std::int64_t width) const {
    return {tensor + step * width, length_ * width};
  }
  Rows gates_of(const LayerRun& run, std::int64_t step) const {
    return of_step(reinterpret_cast<float*>(run.saved[0]), step, gate_width());
  }
  // An lstm's cells, or a gru's part of the new gate that comes from the state.
  float* inner_of(const LayerRun& run) const { return reinterpret_cast<float*>(run.saved[1]); }
  float* states_of(const LayerRun& run) const {
    return keeps_states_apart() ? reinterpret_cast<float*>(run.saved[states_at_]) : run.outputs[0];
  }
  float* carried(const LayerRun& run, std::size_t state) const {
    return reinterpret_cast<float*>(run.saved[carried_at_]) +
           state * static_cast<std::size_t>(batch_ * p_.units);
  }
  // What was there before the step in this place; null rows for zeros.
  Rows before(const LayerRun& run, std::size_t state, std::int64_t place) const {
    if (place > 0)
      return of_step(state == 0 ? states_of(run) : inner_of(run), step_at(place - 1), p_.units);
    return {given_ ? const_cast<float*>(run.inputs[1 + state]) : nullptr, p_.units};
  }
  // Calls product(rows, width, first row of the weights) for what the state's weights make of a
  // step: the gates, and a gru's inner part of the new one.
  template <class Product>
  void each_product(const LayerRun& run, std::int64_t step, const Product& product) const {
    product(gates_of(run, step), plain_width(), 0);
    if (is_gru()) product(of_step(inner_of(run), step, p_.units), p_.units, plain_width());
  }
  const std::int32_t* lengths(const LayerRun& run) const {
    return LayerRun::as<std::int32_t>(run.inputs.back());
  }
  bool is_padding(const LayerRun& run, std::int64_t n, std::int64_t step) const {
    return masked_ && step >= lengths(run)[n];
  }
  // Keeps a step's rows of what is carried: of padding they pass on as they are.
  void keep_padding(const LayerRun& run, std::int64_t step, const Rows& from,
                    const Rows& to) const {
    for (std::int64_t n = 0; masked_ && n < batch_; ++n)
      if (is_padding(run, n, step)) std::copy_n(from.row(n), p_.units, to.row(n));
  }
  std::int64_t grain() const { return std::max<std::int64_t>(1, kElementGrain / gate_width()); }

  void add_inputs(const LayerRun& run) const;
  void add_state(const LayerRun& run, std::int64_t place) const;
  void run_cells(const LayerRun& run, std::int64_t place) const;
  void give_states(const LayerRun& run) const;
  void go_back(const LayerRun& run) const;
  void take_derivatives(const LayerRun& run) const;
  void step_back(const LayerRun& run, std::int64_t place) const;
  void cells_back(const LayerRun& run, std::int64_t place) const;
  void state_gradient(const LayerRun& run) const;
  void bias_gradients(const LayerRun& run) const;

  const std::string name_;
  const RecurrentProperties p_;
  std::int64_t batch_ = 1, length_ = 1, features_ = 1;
  bool given_ = false;               // there are states before the first step
  bool masked_ = false;              // there are lengths
  bool gradient_goes_back_ = false;  // CG is there, and makes the derivatives of the gates
  std::size_t states_at_ = 0, carried_at_ = 0;  // saved tensors
};

}  // namespace moil
