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
#include "engine/kernels/rows/recurrent.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/linear.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/activation.h"
#include "engine/kernels/rows/column_sum.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/lengths.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

enum class RecurrentKind : std::uint8_t { kRnn, kLstm, kGru };

struct RecurrentProperties {
  RecurrentKind kind = RecurrentKind::kRnn;
  std::string_view type = "rnn";
  bool is_cell = false;
  std::int64_t units = 1;
  bool bias = true, reverse = false, sequence = true, gives_state = false;
  ActivationKind activation = ActivationKind::kTanh;  // of kRnn
};

enum RecurrentWeight : std::size_t { kOfInput, kOfState, kInputBias, kStateBias };

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

std::vector<TensorInfo> Recurrent::infer_outputs(std::span<const TensorInfo> all) const {
  const auto inputs = without_lengths(all);
  const std::size_t rank = p_.is_cell ? 2 : 3;
  if (inputs.size() != 1 && inputs.size() != 1 + states())
    fail_shape("takes a sequence, and " + std::to_string(states()) + " states or none, not " +
               std::to_string(inputs.size()) + " inputs");
  const Dims& d = inputs[0].dims;
  if (d.rank() != rank || inputs[0].layout != Layout::kPlain)
    fail_shape(std::string("takes ") + (p_.is_cell ? "[N, F]" : "[N, L, F]") + ", not " +
               d.to_string());
  if (has_lengths(all) && (p_.is_cell || (p_.reverse && inputs.size() > 1)))
    fail_shape("takes no lengths as a cell, nor backward from a state");
  const TensorInfo state{Dims{d[0], p_.units}};
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i].dims != state.dims)
      fail_shape("a state is " + state.dims.to_string() + ", not " + inputs[i].dims.to_string());
  std::vector<TensorInfo> outputs = {state};
  if (!p_.is_cell && p_.sequence) outputs[0] = {Dims{d[0], d[1], p_.units}};
  if (p_.is_cell && p_.kind == RecurrentKind::kLstm) outputs.push_back(state);
  if (p_.gives_state) outputs.insert(outputs.end(), states(), state);
  return outputs;
}

std::vector<WeightSpec> Recurrent::weights(std::span<const TensorInfo> inputs) const {
  std::vector<WeightSpec> specs;
  const auto add = [&](const char* name, const Dims& dims, bool decays) {
    WeightSpec spec;
    spec.name = name;
    spec.dims = dims;
    spec.init = Initializer::kUniformFanIn;
    spec.fan_in = spec.fan_out = p_.units;
    spec.decays = decays;
    specs.push_back(spec);
  };
  add("weight_ih", Dims{gate_width(), inputs[0].dims.back()}, true);
  add("weight_hh", Dims{gate_width(), p_.units}, true);
  if (!p_.bias) return specs;
  add("bias_ih", Dims{gate_width()}, false);
  add("bias_hh", Dims{gate_width()}, false);
  return specs;
}

LayerPlan Recurrent::plan(const LayerSetup& setup) {
  const Dims& d = setup.inputs[0].dims;
  batch_ = d[0];
  length_ = p_.is_cell ? 1 : d[1];
  features_ = d.back();
  given_ = without_lengths(setup.inputs).size() > 1;
  masked_ = has_lengths(setup.inputs);
  gradient_goes_back_ = setup.computes_gradient();
  const bool backward = gradient_goes_back_ || setup.computes_derivative();
  // What the first backward step reads, and what it leaves to the second.
  const Lifespan first = gradient_goes_back_           ? Lifespan::kComputeGradient
                         : setup.computes_derivative() ? Lifespan::kComputeDerivative
                                                       : Lifespan::kNone;
  Lifespan kept = first;
  if (setup.computes_derivative()) kept |= Lifespan::kComputeDerivative;

  LayerPlan plan;
  plan.inputs.assign(setup.inputs.size(), Lifespan::kForward | first);
  plan.inputs[0] = Lifespan::kForward;
  if (setup.train_weight[kOfInput]) plan.inputs[0] |= Lifespan::kComputeGradient;
  plan.outputs.assign(setup.outputs.size(), Lifespan::kNone);
  plan.output_derivatives = first;
  plan.weights = kept;
  const auto rows = static_cast<std::size_t>(batch_ * length_);
  const auto width = static_cast<std::size_t>(p_.units);
  const auto save = [&](const char* name, std::size_t floats, Lifespan lifespan) {
    plan.saved.push_back({name, floats * sizeof(float), lifespan});
    return plan.saved.size() - 1;
  };
  save("gates", rows * width * static_cast<std::size_t>(gates()), Lifespan::kForward | kept);
  if (p_.kind != RecurrentKind::kRnn) save("inner", rows * width, Lifespan::kForward | kept);
  if (keeps_states_apart())
    states_at_ = save("states", rows * width, Lifespan::kForward | first);
  else
    plan.outputs[0] = first;
  if (backward) carried_at_ = save("carried", states() * state_bytes() / sizeof(float), kept);

  const std::size_t sums = static_cast<std::size_t>(gate_width()) * sizeof(float);
  plan.forward_workspace = sums;
  const std::size_t scratch = state_bytes();
  if (gradient_goes_back_)
    plan.gradient_workspace =
        std::max(scratch, sums + column_sum_workspace(batch_ * length_, gate_width()));
  else
    plan.derivative_workspace = scratch;
  return plan;
}

void Recurrent::forward(const LayerRun& run) {
  if (masked_) check_lengths(name_, {lengths(run), static_cast<std::size_t>(batch_)}, length_);
  add_inputs(run);
  for (std::int64_t place = 0; place < length_; ++place) {
    add_state(run, place);
    run_cells(run, place);
  }
  give_states(run);
}

// gates = x W' + b, of all steps at once. The new gate of a gru takes its state's bias inside.
void Recurrent::add_inputs(const LayerRun& run) const {
  float* bias = nullptr;
  if (p_.bias) {
    bias = reinterpret_cast<float*>(run.workspace);
    std::copy_n(run.weights[kInputBias], gate_width(), bias);
    for (std::int64_t j = 0; j < plain_width(); ++j) bias[j] += run.weights[kStateBias][j];
  }
  linear(of_inputs(), run.inputs[0], features_, run.weights[kOfInput], bias,
         gates_of(run, 0).first);
}

// gates += h W', of one step.
void Recurrent::add_state(const LayerRun& run, std::int64_t place) const {
  const std::int64_t step = step_at(place), units = p_.units;
  if (is_gru()) {
    const Rows inner = of_step(inner_of(run), step, units);
    for (std::int64_t n = 0; n < batch_; ++n) {
      if (p_.bias)
        std::copy_n(run.weights[kStateBias] + plain_width(), units, inner.row(n));
      else
        std::fill_n(inner.row(n), units, 0.0F);
    }
  }
  const Rows from = before(run, 0, place);
  if (from.first == nullptr) return;
  each_product(run, step, [&](const Rows& to, std::int64_t width, std::int64_t first) {
    sgemm(Transpose::kNo, Transpose::kYes, batch_, width, units, 1, from.first, from.stride,
          run.weights[kOfState] + first * units, units, 1, to.first, to.stride);
  });
}

void Recurrent::run_cells(const LayerRun& run, std::int64_t place) const {
  const std::int64_t step = step_at(place), units = p_.units;
  const Rows gates = gates_of(run, step), state = of_step(states_of(run), step, units);
  parallel_for(batch_, grain(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      if (is_padding(run, n, step)) {
        std::fill_n(state.row(n), units, 0.0F);
        if (p_.kind == RecurrentKind::kLstm)
          std::fill_n(of_step(inner_of(run), step, units).row(n), units, 0.0F);
        continue;
      }
      if (p_.kind == RecurrentKind::kRnn) {
        activate(p_.activation, 0, gates.row(n), state.row(n), 0, units);
        continue;
      }
      float* inner = of_step(inner_of(run), step, units).row(n);
      if (p_.kind == RecurrentKind::kLstm)
        lstm_cell(gates.row(n), before(run, 1, place).row(n), inner, state.row(n), units);
      else
        gru_cell(gates.row(n), inner, before(run, 0, place).row(n), state.row(n), units);
    }
  });
}

void Recurrent::give_states(const LayerRun& run) const {
  const auto give = [&](std::size_t state, float* to) {
    for (std::int64_t n = 0; n < batch_; ++n, to += p_.units) {
      const std::int64_t length = masked_ ? lengths(run)[n] : length_;
      if (length == 0 && !given_) {
        std::fill_n(to, p_.units, 0.0F);
        continue;
      }
      const Rows from = length == 0 ? before(run, state, 0)
                                    : of_step(state == 0 ? states_of(run) : inner_of(run),
                                              p_.reverse ? 0 : length - 1, p_.units);
      std::copy_n(from.row(n), p_.units, to);
    }
  };
  if (keeps_states_apart()) give(0, run.outputs[0]);
  if (p_.is_cell && p_.kind == RecurrentKind::kLstm) give(1, run.outputs[1]);
  for (std::size_t state = 0; p_.gives_state && state < states(); ++state)
    give(state, run.outputs[1 + state]);
}

// The state's, and the cell's, behind the last step.
void Recurrent::take_derivatives(const LayerRun& run) const {
  const std::size_t elements = state_bytes() / sizeof(float);
  const auto add = [&](std::size_t state, std::size_t output) {
    const float* from = run.output_derivatives[output];
    float* to = carried(run, state);
    for (std::size_t k = 0; from != nullptr && k < elements; ++k) to[k] += from[k];
  };
  std::fill_n(carried(run, 0), states() * elements, 0.0F);
  if (keeps_states_apart()) add(0, 0);
  if (p_.is_cell && p_.kind == RecurrentKind::kLstm) add(1, 1);
  for (std::size_t state = 0; p_.gives_state && state < states(); ++state) add(state, 1 + state);
}

// From the last step to the first: gates become their derivatives, and what was carried ends as
// the derivative of the state before the first step.
void Recurrent::go_back(const LayerRun& run) const {
  take_derivatives(run);
  for (std::int64_t place = length_ - 1; place >= 0; --place) step_back(run, place);
}

void Recurrent::step_back(const LayerRun& run, std::int64_t place) const {
  const std::int64_t step = step_at(place), units = p_.units;
  float* d_state = carried(run, 0);
  if (const float* dy = run.output_derivatives[0]; dy != nullptr && !keeps_states_apart()) {
    for (std::int64_t n = 0; n < batch_; ++n)
      for (std::int64_t j = 0; j < units && !is_padding(run, n, step); ++j)
        d_state[n * units + j] += dy[(n * length_ + step) * units + j];
  }
  cells_back(run, place);
  const Rows carried_on{d_state, units}, kept{reinterpret_cast<float*>(run.workspace), units};
  keep_padding(run, step, carried_on, kept);
  // What goes to a gru's state before without a product is there already.
  const float beta = is_gru() ? 1 : 0;
  each_product(run, step, [&](const Rows& from, std::int64_t width, std::int64_t first) {
    sgemm(Transpose::kNo, Transpose::kNo, batch_, units, width, 1, from.first, from.stride,
          run.weights[kOfState] + first * units, units, beta, d_state, units);
  });
  keep_padding(run, step, kept, carried_on);
}

void Recurrent::cells_back(const LayerRun& run, std::int64_t place) const {
  const std::int64_t step = step_at(place), units = p_.units;
  const Rows gates = gates_of(run, step), state = of_step(states_of(run), step, units);
  const Rows d_state{carried(run, 0), units};
  const Rows scratch{reinterpret_cast<float*>(run.workspace), units};
  parallel_for(batch_, grain(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      if (is_padding(run, n, step)) {
        std::fill_n(gates.row(n), gate_width(), 0.0F);
        if (is_gru()) std::fill_n(of_step(inner_of(run), step, units).row(n), units, 0.0F);
        continue;
      }
      if (p_.kind == RecurrentKind::kRnn) {
        activation_derivative(p_.activation, 0, state.row(n), d_state.row(n), gates.row(n), 0,
                              units);
        continue;
      }
      float* inner = of_step(inner_of(run), step, units).row(n);
      if (p_.kind == RecurrentKind::kLstm)
        lstm_cell_derivative(gates.row(n), before(run, 1, place).row(n), inner, d_state.row(n),
                             carried(run, 1) + n * units, scratch.row(n), units);
      else
        gru_cell_derivative(gates.row(n), inner, before(run, 0, place).row(n), d_state.row(n),
                            units);
    }
  });
}

void Recurrent::compute_gradient(const LayerRun& run) {
  go_back(run);
  if (float* gradient = run.gradients[kOfInput])
    linear_gradient(of_inputs(), run.inputs[0], gates_of(run, 0).first, run.adds(kOfInput),
                    gradient);
  if (run.gradients[kOfState]) state_gradient(run);
  if (p_.bias) bias_gradients(run);
}

// A product a step: a whole one would want the states moved by a step.
void Recurrent::state_gradient(const LayerRun& run) const {
  const std::int64_t units = p_.units;
  float* gradient = run.gradients[kOfState];
  if (!run.adds(kOfState)) std::fill_n(gradient, gate_width() * units, 0.0F);
  for (std::int64_t place = 0; place < length_; ++place) {
    const Rows from = before(run, 0, place);
    if (from.first == nullptr) continue;
    each_product(
        run, step_at(place), [&](const Rows& slopes, std::int64_t width, std::int64_t first) {
          sgemm(Transpose::kYes, Transpose::kNo, width, units, batch_, 1, slopes.first,
                slopes.stride, from.first, from.stride, 1, gradient + first * units, units);
        });
  }
}

void Recurrent::bias_gradients(const LayerRun& run) const {
  const std::int64_t rows = batch_ * length_, width = gate_width();
  auto* sums = reinterpret_cast<float*>(run.workspace);
  std::byte* workspace = run.workspace + static_cast<std::size_t>(width) * sizeof(float);
  const auto store = [&](RecurrentWeight which) {
    float* to = run.gradients[which];
    for (std::int64_t j = 0; to != nullptr && j < width; ++j)
      to[j] = run.adds(which) ? to[j] + sums[j] : sums[j];
  };
  column_sum(rows, width, gates_of(run, 0).first, sums, false, workspace);
  store(kInputBias);
  if (is_gru()) column_sum(rows, p_.units, inner_of(run), sums + plain_width(), false, workspace);
  store(kStateBias);
}

void Recurrent::compute_derivative(const LayerRun& run) {
  if (!gradient_goes_back_) go_back(run);
  if (run.input_derivatives[0])
    linear_derivative(of_inputs(), gates_of(run, 0).first, run.weights[kOfInput],
                      run.input_derivatives[0]);
  for (std::size_t state = 0; given_ && state < states(); ++state)
    if (float* to = run.input_derivatives[1 + state])
      std::copy_n(carried(run, state), state_bytes() / sizeof(float), to);
}

std::unique_ptr<Layer> make_recurrent(RecurrentKind kind, std::string_view type,
                                      const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  RecurrentProperties p{.kind = kind, .type = type, .is_cell = type.ends_with("_cell")};
  p.units = reader.integer("units");
  p.bias = reader.flag("bias", true);
  if (!p.is_cell) {
    p.reverse = reader.flag("reverse", false);
    p.sequence = reader.flag("sequence", true);
    p.gives_state = reader.flag("state", false);
    (void)reader.flag("unroll", false);  // the realizer's (model/realizers/recurrent.cc)
  }
  if (kind == RecurrentKind::kRnn) {
    const std::string word = reader.word("nonlinearity", "tanh");
    if (word != "tanh" && word != "relu")
      throw Error(
          ErrorCode::kInvalidArgument,
          "layer \"" + name + "\": nonlinearity is \"tanh\" or \"relu\", not \"" + word + "\"");
    if (word == "relu") p.activation = ActivationKind::kRelu;
  }
  reader.done();
  return std::make_unique<Recurrent>(name, p);
}

}  // namespace

std::unique_ptr<Layer> make_rnn(const std::string& name, const Properties& properties) {
  return make_recurrent(RecurrentKind::kRnn, "rnn", name, properties);
}
std::unique_ptr<Layer> make_rnn_cell(const std::string& name, const Properties& properties) {
  return make_recurrent(RecurrentKind::kRnn, "rnn_cell", name, properties);
}
std::unique_ptr<Layer> make_lstm(const std::string& name, const Properties& properties) {
  return make_recurrent(RecurrentKind::kLstm, "lstm", name, properties);
}
std::unique_ptr<Layer> make_lstm_cell(const std::string& name, const Properties& properties) {
  return make_recurrent(RecurrentKind::kLstm, "lstm_cell", name, properties);
}
std::unique_ptr<Layer> make_gru(const std::string& name, const Properties& properties) {
  return make_recurrent(RecurrentKind::kGru, "gru", name, properties);
}
std::unique_ptr<Layer> make_gru_cell(const std::string& name, const Properties& properties) {
  return make_recurrent(RecurrentKind::kGru, "gru_cell", name, properties);
}

}  // namespace moil
