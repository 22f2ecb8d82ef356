// How recurrent layers are written: [N, L, F] as ONNX's [L, N, F], a direction a layer.
#include "engine/io/onnx/export/layer_writer.h"
#include "engine/layers/lengths.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

struct RecurrentForm {
  std::string op;
  Ints gates;  // the file's, as the layer numbers them
  std::size_t states;
};
constexpr char kRnn[] = "RNN", kLstm[] = "LSTM", kGru[] = "GRU";

RecurrentForm recurrent_form(const std::string& op) {
  if (op == kLstm) return {kLstm, {0, 3, 1, 2}, 2};
  if (op == kGru) return {kGru, {1, 0, 2}, 1};
  return {kRnn, {0}, 1};
}

// Gates in the file's order, a direction before them.
Tensor in_order(Tensor weight, const Ints& gates) {
  const std::size_t gate = weight.floats.size() / gates.size();
  const std::vector<float> values = weight.floats;
  for (std::size_t g = 0; g < gates.size(); ++g)
    std::copy_n(values.begin() + gates[g] * static_cast<std::ptrdiff_t>(gate), gate,
                weight.floats.begin() + static_cast<std::ptrdiff_t>(g * gate));
  weight.dims.insert(weight.dims.begin(), 1);
  return weight;
}

std::vector<std::string> weights_of(LayerWriter& w, const RecurrentForm& form) {
  std::vector<std::string> names;
  for (const char* weight : {"weight_ih", "weight_hh"})
    names.push_back(w.add_constant(weight, in_order(w.constant_of(weight), form.gates)));
  if (!w.flag("bias", true)) return names;
  Tensor bias = in_order(w.constant_of("bias_ih"), form.gates);
  const Tensor other = in_order(w.constant_of("bias_hh"), form.gates);
  bias.floats.insert(bias.floats.end(), other.floats.begin(), other.floats.end());
  bias.dims[1] *= 2;
  names.push_back(w.add_constant("bias_ih", std::move(bias)));
  return names;
}

std::map<std::string, Attribute> attributes_of(const LayerWriter& w, const RecurrentForm& form) {
  std::map<std::string, Attribute> attributes = {{"hidden_size", w.reader().integer("units")}};
  if (w.has("reverse") && w.flag("reverse", false))
    attributes["direction"] = std::string("reverse");
  if (form.op == kGru) attributes["linear_before_reset"] = std::int64_t{1};
  if (w.has("nonlinearity") && w.reader().word("nonlinearity", "tanh") == "relu")
    attributes["activations"] = std::vector<std::string>{"Relu"};
  return attributes;
}

// States [N, H] are [1, N, H] in the file. Behind them may be lengths, which ONNX wants as int32.
void add_states(LayerWriter& w, const std::string& axes, std::vector<std::string>& from) {
  std::vector<std::string> inputs = w.inputs();
  if (inputs.size() == 1) return;
  from.resize(4);  // no bias is an empty name
  std::string lengths;
  if (has_lengths(w.input_infos())) {
    std::string list = inputs.back();
    if (w.input_infos().back().dims.rank() > 1)
      list = w.emit_part("Reshape", {list, w.add_ints("list", {-1})}, "lengths");
    lengths = w.emit_part("Cast", {list}, "short_lengths", {{"to", std::int64_t{6}}});
    inputs.pop_back();
  }
  from.push_back(lengths);
  for (std::size_t i = 1; i < inputs.size(); ++i)
    from.push_back(w.emit_part("Unsqueeze", {inputs[i], axes}, "before" + std::to_string(i)));
}

template <const char* kOp>
void add_recurrent(LayerWriter& w) {
  const RecurrentForm form = recurrent_form(kOp);
  const bool sequence = w.flag("sequence", true), state = w.flag("state", false);
  const std::map<std::string, Attribute> swapped = {{"perm", Ints{1, 0, 2}}};
  std::vector<std::string> from = {
      w.emit_part("Transpose", {w.inputs()[0]}, "steps_first", swapped)};
  for (std::string& weight : weights_of(w, form)) from.push_back(std::move(weight));
  const std::string first = w.add_ints("first", {0}), second = w.add_ints("second", {1});
  add_states(w, first, from);
  std::vector<std::string> outputs = {sequence ? w.name() + ".all" : ""};
  for (std::size_t s = 0; s < form.states; ++s)
    outputs.push_back(state || (s == 0 && !sequence) ? w.name() + ".end" + std::to_string(s) : "");
  while (outputs.back().empty()) outputs.pop_back();
  w.emit_all(kOp, from, outputs, attributes_of(w, form));
  for (std::size_t s = 0; state && s < form.states; ++s)
    w.emit("Squeeze", {outputs[1 + s], first}, w.name() + ":" + std::to_string(1 + s));
  if (!sequence) {
    w.emit("Squeeze", {outputs[1], first});
    return;
  }
  const std::string steps = w.emit_part("Squeeze", {outputs[0], second}, "steps");
  w.emit("Transpose", {steps}, {}, swapped);
}

// One step.
template <const char* kOp>
void add_cell(LayerWriter& w) {
  const RecurrentForm form = recurrent_form(kOp);
  const std::string first = w.add_ints("first", {0});
  std::vector<std::string> from = {w.emit_part("Unsqueeze", {w.inputs()[0], first}, "step")};
  for (std::string& weight : weights_of(w, form)) from.push_back(std::move(weight));
  add_states(w, first, from);
  std::vector<std::string> outputs = {""};
  for (std::size_t s = 0; s < form.states; ++s)
    outputs.push_back(w.name() + ".end" + std::to_string(s));
  w.emit_all(kOp, from, outputs, attributes_of(w, form));
  w.emit("Squeeze", {outputs[1], first});
  if (form.states == 2) w.emit("Squeeze", {outputs[2], first}, w.name() + ":1");
}

void add_stack(LayerWriter& w) {
  const std::string axes = w.add_ints("axes", {1});
  std::vector<std::string> steps;
  for (const std::string& input : w.inputs())
    steps.push_back(w.emit_part("Unsqueeze", {input, axes}, "step" + std::to_string(steps.size())));
  w.emit("Concat", steps, {}, {{"axis", std::int64_t{1}}});
}

void add_unstack(LayerWriter& w) {
  const std::string x = w.inputs()[0];
  for (std::int64_t step = 0; step < w.input_info().dims[1]; ++step) {
    const std::string index = std::to_string(step);
    const std::string at = w.add_constant("at" + index, Tensor::of_ints({}, {step}));
    w.emit("Gather", {x, at}, w.name() + (step == 0 ? "" : ":" + index),
           {{"axis", std::int64_t{1}}});
  }
}

}  // namespace

void add_recurrent_writers(LayerWriters& writers) {
  writers.insert({{"gru", add_recurrent<kGru>},
                  {"gru_cell", add_cell<kGru>},
                  {"lstm", add_recurrent<kLstm>},
                  {"lstm_cell", add_cell<kLstm>},
                  {"rnn", add_recurrent<kRnn>},
                  {"rnn_cell", add_cell<kRnn>},
                  {"stack", add_stack},
                  {"unstack", add_unstack}});
}

}  // namespace moil::onnx
