#include "engine/layers/recurrent/recurrent.h"

#include <algorithm>

#include "base/error.h"
#include "engine/kernels/rows/column_sum.h"
#include "engine/layers/lengths.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {

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

namespace {

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
