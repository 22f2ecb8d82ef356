// LSTM, GRU and RNN. A direction is a layer; two are joined.
#include <algorithm>

#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

enum RecurrentInput : std::size_t { kX, kW, kR, kB, kLengths, kState, kCell, kPeepholes };

struct RecurrentType {
  const char* layer;
  Ints gates;  // the layer's, as the file numbers them
  std::size_t states;
  std::vector<std::string> activations;  // that a direction has if it says nothing
};

const RecurrentType& type_of(const Node& node) {
  static const std::map<std::string, RecurrentType> types = {
      {"RNN", {"rnn", {0}, 1, {"Tanh"}}},
      // input, output, forget, cell; update, reset, new.
      {"LSTM", {"lstm", {0, 2, 3, 1}, 2, {"Sigmoid", "Tanh", "Tanh"}}},
      {"GRU", {"gru", {1, 0, 2}, 1, {"Sigmoid", "Tanh"}}}};
  return types.at(node.op);
}

class RecurrentImport {
 public:
  RecurrentImport(ImportState& state, const Node& node)
      : state_(state), node_(node), type_(type_of(node)), x_(state.rows(node, kX)) {}

  void run() {
    check();
    std::vector<Value> layers;
    for (std::int64_t d = 0; d < directions_; ++d) layers.push_back(layer_of(d));
    if (reads(0)) give_sequence(layers);
    for (std::size_t s = 0; s < type_.states; ++s)
      if (reads(1 + s)) give_state(layers, s);
  }

 private:
  bool reads(std::size_t output) const {
    return output < node_.outputs.size() && state_.is_read(node_.outputs[output]);
  }

  void check() {
    const bool batch_first = node_.integer("layout", 0) != 0;
    if (x_.info.dims.rank() != 3 || x_.batch_axis != (batch_first ? 0 : 1))
      throw Unsupported(std::string("it takes a sequence ") +
                        (batch_first ? "[N, L, F]" : "[L, N, F]"));
    if (batch_first) throw Unsupported("only layout 0 is supported");
    length_ = x_.info.dims[1];
    features_ = x_.info.dims[2];
    const std::string direction = node_.word("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      throw Unsupported("direction \"" + direction + "\"");
    reverse_ = direction == "reverse";
    directions_ = direction == "bidirectional" ? 2 : 1;
    if (node_.has("clip")) throw Unsupported("gates that are clipped are not supported");
    if (node_.integer("input_forget", 0) != 0)
      throw Unsupported("coupled input and forget gates are not supported");
    if (node_.op == "GRU" && node_.integer("linear_before_reset", 0) == 0)
      throw Unsupported("only linear_before_reset = 1 is supported, as PyTorch writes it");
    check_activations();
    check_weights();
    check_states();
    check_lengths();
  }

  void check_activations() {
    std::vector<std::string> each = type_.activations;
    const std::vector<std::string> given = node_.words("activations");
    if (given.empty()) return;
    if (node_.op == "RNN" && given[0] == "Relu") nonlinearity_ = "relu", each = {"Relu"};
    std::vector<std::string> all;
    for (std::int64_t d = 0; d < directions_; ++d) all.insert(all.end(), each.begin(), each.end());
    if (given != all) throw Unsupported("only the usual activations are supported");
  }

  void check_weights() {
    const auto gates = static_cast<std::int64_t>(type_.gates.size());
    const Tensor& recurrence = state_.constant(node_, kR);
    if (recurrence.dims.size() != 3 || !recurrence.is_float)
      throw Unsupported("its recurrence weights are not [directions, gates, hidden]");
    units_ = recurrence.dims[2];
    if (node_.integer("hidden_size", units_) != units_)
      throw Unsupported("its hidden_size does not fit its weights");
    const auto expect = [&](const Tensor& tensor, const Ints& dims) {
      if (tensor.dims != dims || !tensor.is_float)
        throw Unsupported("its weights do not fit its input");
    };
    expect(state_.constant(node_, kW), {directions_, gates * units_, features_});
    expect(recurrence, {directions_, gates * units_, units_});
    if (const Tensor* bias = state_.optional_constant(node_, kB))
      expect(*bias, {directions_, 2 * gates * units_});
    if (state_.has(node_, kPeepholes)) throw Unsupported("peepholes are not supported");
  }

  // Zeros are what exporters write if a model says nothing.
  bool is_given(std::size_t input) const {
    if (!state_.has(node_, input)) return false;
    if (!state_.is_constant(node_, input)) return true;
    const Tensor& given = state_.constant(node_, input);
    if (std::any_of(given.floats.begin(), given.floats.end(), [](float v) { return v != 0; }))
      throw Unsupported("a constant that states begin with is supported if it is zeros");
    return false;
  }

  void check_states() {
    const bool state = is_given(kState);
    if (type_.states == 2 && is_given(kCell) != state)
      throw Unsupported("of the state and the cell only one is given");
    if (state && directions_ == 2) throw Unsupported("states before two directions");
    for (std::size_t s = 0; state && s < type_.states; ++s) {
      const Value before = state_.rows(node_, kState + s);
      if (before.info.dims.rank() != 3 || before.batch_axis != 1 || before.info.dims[1] != 1)
        throw Unsupported("a state before the first step is [1, N, hidden]");
      const Node as_rows = part(kState + s, 3);
      state_.set_dims(as_rows, before, {before.info.dims[0], before.info.dims[2]}, 0);
      before_.push_back(*state_.find(as_rows.outputs[0]));
    }
  }

  // Constant ones say nothing if they are the whole length; others come with the samples.
  void check_lengths() {
    if (!state_.has(node_, kLengths)) return;
    if (!state_.is_constant(node_, kLengths)) {
      lengths_ = state_.data(node_, kLengths);
      if (lengths_.batch_axis != 0 || lengths_.info.type != moil::ElementType::kInt32)
        throw Unsupported("its lengths are not an input of whole numbers, one a sample");
      return;
    }
    const Ints& lengths = state_.constant(node_, kLengths).ints;
    if (std::any_of(lengths.begin(), lengths.end(), [&](std::int64_t n) { return n != length_; }))
      throw Unsupported("constant lengths are supported if they are the whole length");
  }

  // A direction's part of a constant, gates in the layer's order. `first`: of its gates there.
  NamedTensor weight(const Tensor& tensor, std::int64_t direction, std::int64_t first,
                     std::int64_t columns) const {
    const auto gates = static_cast<std::int64_t>(type_.gates.size());
    const std::int64_t gate = units_ * columns;
    const std::int64_t all = tensor.elements() / directions_;
    NamedTensor result{{gates * units_}, {}};
    if (columns > 1 || tensor.dims.size() == 3) result.dims.push_back(columns);
    for (const std::int64_t of_file : type_.gates) {
      const auto begin = tensor.floats.begin() + direction * all + (first + of_file) * gate;
      result.data.insert(result.data.end(), begin, begin + gate);
    }
    return result;
  }

  Value layer_of(std::int64_t direction) {
    const auto gates = static_cast<std::int64_t>(type_.gates.size());
    std::map<std::string, NamedTensor> weights = {
        {"weight_ih", weight(state_.constant(node_, kW), direction, 0, features_)},
        {"weight_hh", weight(state_.constant(node_, kR), direction, 0, units_)}};
    const Tensor* bias = state_.optional_constant(node_, kB);
    if (bias != nullptr) {
      weights["bias_ih"] = weight(*bias, direction, 0, 1);
      weights["bias_hh"] = weight(*bias, direction, gates, 1);
    }
    Properties properties = {{"units", units_}};
    if (bias == nullptr) properties["bias"] = false;
    if (reverse_ || direction == 1) properties["reverse"] = true;
    if (!nonlinearity_.empty()) properties["nonlinearity"] = nonlinearity_;
    bool state = false;
    for (std::size_t s = 0; s < type_.states; ++s) state = state || reads(1 + s);
    if (state) properties["state"] = true;
    std::vector<const Value*> from = {&x_};
    for (const Value& before : before_) from.push_back(&before);
    if (!lengths_.layer.empty()) from.push_back(&lengths_);
    return state_.add_layer(part(0, direction), type_.layer, from, std::move(properties),
                            std::move(weights));
  }

  // A node of its own for what is made of an output on the way.
  Node part(std::size_t output, std::int64_t number) const {
    Node node = node_;
    node.outputs = {node_.label() + "/" + std::to_string(output) + "/" + std::to_string(number)};
    return node;
  }
  // What only reshapes is not named after the weights: it may go again.
  Node last(std::size_t output) const {
    Node node;
    node.op = "Reshape";
    node.name = node_.outputs[output];
    node.outputs = {node_.outputs[output]};
    return node;
  }

  // Both directions, one behind the other in the last axis.
  Value joined(const std::vector<Value>& values, std::size_t output) {
    if (values.size() == 1) return values[0];
    const auto axis = static_cast<std::int64_t>(values[0].info.dims.rank()) - 1;
    Properties properties;
    if (axis != 1) properties["axis"] = axis;
    return state_.add_layer(part(output, 2), "concat", {&values[0], &values[1]},
                            std::move(properties));
  }

  void give_sequence(const std::vector<Value>& layers) {
    const Value all = joined(layers, 0);
    state_.set_dims(last(0), all, {length_, directions_, all.info.dims[0], units_}, 2);
  }

  void give_state(const std::vector<Value>& layers, std::size_t state) {
    std::vector<Value> ends;
    for (const Value& layer : layers)
      ends.push_back(
          state_.further_output(layer, 1 + state, moil::Dims{layer.info.dims[0], units_}));
    const Value all = joined(ends, 1 + state);
    state_.set_dims(last(1 + state), all, {directions_, all.info.dims[0], units_}, 1);
  }

  ImportState& state_;
  const Node& node_;
  const RecurrentType& type_;
  const Value x_;
  std::vector<Value> before_;
  Value lengths_;  // of no layer if there are none
  std::int64_t length_ = 1, features_ = 1, units_ = 1, directions_ = 1;
  bool reverse_ = false;
  std::string nonlinearity_;
};

void import_recurrent(ImportState& state, const Node& node) { RecurrentImport(state, node).run(); }

}  // namespace

void add_recurrent_operators(Operators& operators) {
  operators.insert(
      {{"GRU", import_recurrent}, {"LSTM", import_recurrent}, {"RNN", import_recurrent}});
}

}  // namespace moil::onnx
