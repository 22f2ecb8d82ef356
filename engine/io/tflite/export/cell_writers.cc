#include "engine/io/tflite/export/cell_writers.h"

namespace moil::tflite {
namespace {

// The gates' numbers [N, gates * units], of what goes in and of the state before; the second is
// empty if nothing is added.
class Gates {
 public:
  explicit Gates(onnx::LayerWriter& w) : w_(w), units_(w.reader().integer("units")) {
    const std::vector<std::string> inputs = w.inputs();
    const bool has_bias = w.flag("bias", true);
    of_input_ = product(inputs[0], "ih", has_bias);
    if (inputs.size() > 1)
      of_state_ = product(inputs[1], "hh", has_bias);
    else if (has_bias)
      of_state_ = w.add_weight("bias_hh");
  }

  std::string input(std::int64_t gate) { return part(of_input_, gate, "input"); }
  std::string state(std::int64_t gate) {
    return of_state_.empty() ? std::string() : part(of_state_, gate, "state");
  }
  std::string sum(std::int64_t gate) {
    const std::string x = input(gate), h = state(gate);
    return h.empty() ? x : w_.emit_part("Add", {x, h}, "sum" + std::to_string(gate));
  }
  std::string open(const std::string& op, std::int64_t gate) {
    return w_.emit_part(op, {sum(gate)}, "gate" + std::to_string(gate));
  }

 private:
  std::string product(const std::string& x, const std::string& weights, bool has_bias) {
    std::vector<std::string> from = {x, w_.add_weight("weight_" + weights)};
    if (has_bias) from.push_back(w_.add_weight("bias_" + weights));
    return w_.emit_part("Gemm", from, weights, {{"transB", std::int64_t{1}}});
  }
  std::string part(const std::string& all, std::int64_t gate, const std::string& short_name) {
    const std::string number = std::to_string(gate);
    return w_.emit_part(
        "Slice",
        {all, w_.add_ints("from" + number, {gate * units_}),
         w_.add_ints("to" + number, {(gate + 1) * units_}), w_.add_ints("axis", {-1})},
        short_name + number);
  }

  onnx::LayerWriter& w_;
  const std::int64_t units_;
  std::string of_input_, of_state_;
};

}  // namespace

void write_lstm_cell(onnx::LayerWriter& w) {
  enum { kIn, kForget, kNew, kOut };
  const std::vector<std::string> inputs = w.inputs();
  Gates gates(w);
  const std::string taken =
      w.emit_part("Mul", {gates.open("Sigmoid", kIn), gates.open("Tanh", kNew)}, "taken");
  const std::string cell = w.name() + ":1";
  if (inputs.size() > 2)
    w.emit("Add", {w.emit_part("Mul", {gates.open("Sigmoid", kForget), inputs[2]}, "kept"), taken},
           cell);
  else
    w.emit("Identity", {taken}, cell);
  w.emit("Mul", {gates.open("Sigmoid", kOut), w.emit_part("Tanh", {cell}, "bent")});
}

void write_gru_cell(onnx::LayerWriter& w) {
  enum { kReset, kUpdate, kNew };
  const std::vector<std::string> inputs = w.inputs();
  Gates gates(w);
  std::string sum = gates.input(kNew);
  if (const std::string state = gates.state(kNew); !state.empty())
    sum = w.emit_part("Add",
                      {sum, w.emit_part("Mul", {gates.open("Sigmoid", kReset), state}, "reset")},
                      "new_sum");
  const std::string fresh = w.emit_part("Tanh", {sum}, "new"),
                    update = gates.open("Sigmoid", kUpdate);
  if (inputs.size() == 1) {
    w.emit("Sub", {fresh, w.emit_part("Mul", {update, fresh}, "left")});
    return;
  }
  const std::string less = w.emit_part("Sub", {inputs[1], fresh}, "less");
  w.emit("Add", {fresh, w.emit_part("Mul", {update, less}, "kept")});
}

void write_rnn_cell(onnx::LayerWriter& w) {
  const bool is_relu = w.has("nonlinearity") && w.reader().word("nonlinearity", "tanh") == "relu";
  Gates gates(w);
  w.emit(is_relu ? "Relu" : "Tanh", {gates.sum(0)});
}

}  // namespace moil::tflite
