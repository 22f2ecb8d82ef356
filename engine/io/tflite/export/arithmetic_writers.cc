// Products, sums, activations, means over axes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/io/tflite/export/graph_writer.h"
#include "engine/io/tflite/export/operator_codes.h"

namespace moil::tflite {
namespace {

using file::TensorType;

Options activation_options(GraphWriter& w, int activation) {
  return GraphWriter::options(
      file::CreateArithmeticOptions(w.builder(), static_cast<std::int8_t>(activation)));
}

Ints broadcast(const Ints& a, const Ints& b) {
  Ints dims(std::max(a.size(), b.size()), 1);
  for (const Ints* one : {&a, &b})
    for (std::size_t k = 0; k < one->size(); ++k) {
      std::int64_t& extent = dims[dims.size() - one->size() + k];
      extent = std::max(extent, (*one)[k]);
    }
  return dims;
}

// A constant of a higher rank is a new one.
Value raised(GraphWriter& w, const Value& value, std::size_t rank) {
  Ints dims = value.dims;
  dims.insert(dims.begin(), rank - dims.size(), 1);
  if (value.constant == nullptr) return w.reshaped(value, dims);
  onnx::Tensor tensor = *value.constant;
  tensor.dims = dims;
  return w.of(value.name + ".raised", std::move(tensor));
}

// The tensor of an operand in an order that another one has.
int operand(GraphWriter& w, const Value& value, const Ints& order) {
  const bool fits = order == plain_order(order.size()) || value.is_number();
  if (fits) return w.plain(value);
  return w.in_order(value.rank() < order.size() ? raised(w, value, order.size()) : value, order);
}

template <const OperatorCode& code>
void write_unary(GraphWriter& w) {
  w.end(w.add_like(code, w.input(0), code.options_type == 0 ? Options() : w.no_options()));
}

template <const OperatorCode& code>
void write_sum(GraphWriter& w) {
  const Value a = w.input(0), b = w.input(1);
  w.end(binary(w, code, a, b, w.take_activation()));
}

template <const OperatorCode& code>
void write_extreme(GraphWriter& w) {
  const Value a = w.input(0), b = w.input(1);
  w.end(binary(w, code, a, b));
}

// Compared: truth values.
template <const OperatorCode& code>
void write_comparison(GraphWriter& w) {
  const Value a = w.input(0), b = w.input(1);
  const Ints dims = broadcast(a.dims, b.dims);
  const int result = w.add(code, {w.plain(a), w.plain(b)}, dims, w.no_options(), TensorType::BOOL);
  w.end({dims, plain_order(dims.size()), result, TensorType::BOOL});
}

void write_choice(GraphWriter& w) {
  const Value chosen = w.input(0), a = w.input(1), b = w.input(2);
  const Ints dims = broadcast(chosen.dims, broadcast(a.dims, b.dims));
  const int result =
      w.add(ops::kSelect, {w.plain(chosen), w.plain(a), w.plain(b)}, dims, w.no_options(), a.type);
  w.end({dims, plain_order(dims.size()), result, a.type});
}

void write_power(GraphWriter& w) {
  const Value x = w.input(0), power = w.input(1);
  if (power.is_number() && power.constant->is_float && power.constant->floats[0] == 2)
    return w.end(w.add_like(ops::kSquare, x, w.no_options()));
  w.end(binary(w, ops::kPow, x, power));
}

void write_reciprocal(GraphWriter& w) { w.end(binary(w, ops::kDiv, w.number(1), w.input(0))); }

void write_clip(GraphWriter& w) {
  constexpr float kOpen = std::numeric_limits<float>::infinity();
  const float least = w.has(1) ? w.input_constant(1).floats.at(0) : -kOpen,
              most = w.has(2) ? w.input_constant(2).floats.at(0) : kOpen;
  const Value x = w.input(0);
  if (least == 0 && most == 6) return w.end(w.add_like(ops::kRelu6, x));
  if (least == -1 && most == 1) return w.end(w.add_like(ops::kReluN1To1, x));
  if (least == 0 && most == kOpen) return w.end(w.add_like(ops::kRelu, x));
  Value y = x;
  if (least != -kOpen) y = binary(w, ops::kMaximum, y, w.number(least));
  if (most != kOpen) y = binary(w, ops::kMinimum, y, w.number(most));
  w.end(y);
}

// alpha x + beta, from 0 to 1; a sixth of a ReLU6 in its usual form.
void write_hard_sigmoid(GraphWriter& w) {
  constexpr int kFusedRelu6 = 3;
  const auto alpha = static_cast<float>(w.node().number("alpha", 0.2)),
             beta = static_cast<float>(w.node().number("beta", 0.5));
  constexpr float kSixth = 1.0F / 6;
  if (alpha == kSixth && beta == 0.5F) {
    const Value cut = binary(w, ops::kAdd, w.input(0), w.number(3), kFusedRelu6);
    return w.end(binary(w, ops::kMul, cut, w.number(kSixth)));
  }
  const Value line =
      binary(w, ops::kAdd, binary(w, ops::kMul, w.input(0), w.number(alpha)), w.number(beta));
  w.end(binary(w, ops::kMinimum, binary(w, ops::kMaximum, line, w.number(0)), w.number(1)));
}

void write_leaky_relu(GraphWriter& w) {
  const auto alpha = static_cast<float>(w.node().number("alpha", 0.01));
  w.end(w.add_like(ops::kLeakyRelu, w.input(0),
                   GraphWriter::options(file::CreateLeakyReluOptions(w.builder(), alpha))));
}

// The format's own has an alpha of 1: what is below zero is scaled apart.
void write_elu(GraphWriter& w) {
  const auto alpha = static_cast<float>(w.node().number("alpha", 1));
  const Value x = w.input(0);
  if (alpha == 1) return w.end(w.add_like(ops::kElu, x));
  const Value below = w.add_like(ops::kElu, binary(w, ops::kMinimum, x, w.number(0)));
  w.end(binary(w, ops::kAdd, w.add_like(ops::kRelu, x),
               binary(w, ops::kMul, below, w.number(alpha))));
}

// max(x, 0) + log(1 + e^-|x|)
void write_softplus(GraphWriter& w) {
  const Value x = w.input(0);
  const Value size = w.add_like(ops::kAbs, x, w.no_options());
  const Value small =
      w.add_like(ops::kExp, w.add_like(ops::kNeg, size, w.no_options()), w.no_options());
  const Value rest = w.add_like(ops::kLog, binary(w, ops::kAdd, small, w.number(1)));
  w.end(binary(w, ops::kAdd, w.add_like(ops::kRelu, x), rest));
}

void write_gelu(GraphWriter& w) {
  const bool approximate = w.node().word("approximate", "none") == "tanh";
  w.end(w.add_like(ops::kGelu, w.input(0),
                   GraphWriter::options(file::CreateGeluOptions(w.builder(), approximate))));
}

void write_prelu(GraphWriter& w) {
  const Value x = w.input(0), slopes = w.input(1);
  onnx::Tensor row = w.input_constant(1);
  row.dims = {row.elements()};
  Value y{x.dims, x.order};
  if (row.elements() > 1)  // along the last axis
    y.order = slopes.rank() == 1 ? plain_order(x.rank()) : image_order(x.rank());
  if (x.rank() == 4) row.dims = {1, 1, row.elements()};
  const int from = w.in_order(x, y.order);
  y.tensor =
      w.add(ops::kPrelu, {from, w.plain(w.of("slopes", std::move(row)))}, w.tensor_dims(from));
  w.end(y);
}

// Over the last axis of a tensor alone.
void write_softmax_by(GraphWriter& w, const OperatorCode& code, Options options) {
  const Value x = w.input(0);
  const auto axis = static_cast<std::int64_t>(w.axis_of(w.node().integer("axis", -1), x.rank()));
  Value y = x;
  if (y.order.back() != axis) {
    std::erase(y.order, axis);
    y.order.push_back(axis);
  }
  const int from = w.in_order(x, y.order);
  y.tensor = w.add(code, {from}, w.tensor_dims(from), options);
  w.end(y);
}

void write_softmax(GraphWriter& w) {
  write_softmax_by(w, ops::kSoftmax,
                   GraphWriter::options(file::CreateSoftmaxOptions(w.builder(), 1)));
}

void write_log_softmax(GraphWriter& w) { write_softmax_by(w, ops::kLogSoftmax, w.no_options()); }

// --- products -----------------------------------------------------------------------------------

// x W' + b for rows of any rank. weights: [units, features].
void write_rows(GraphWriter& w, const Value& x, int weights, std::int64_t units, Value bias) {
  const bool is_matrix = x.rank() == 2;
  const int from = w.plain(x);
  std::string name = bias.name;
  if (bias.constant == nullptr)
    if (const onnx::Tensor* found = w.take_bias(units, name))
      bias = {found->dims, plain_order(1), -1, TensorType::FLOAT32, found, name};
  const int added = bias.constant == nullptr ? -1 : w.plain(bias);
  const int activation = w.take_activation();
  const Options options = GraphWriter::options(file::CreateFullyConnectedOptions(
      w.builder(), static_cast<std::int8_t>(activation), 0, !is_matrix));
  Ints dims = x.dims;
  dims.back() = units;
  const int result = w.add(is_matrix ? ops::kFullyConnected : ops::kFullyConnectedRows,
                           {from, weights, added}, dims, options);
  w.end({dims, plain_order(dims.size()), result});
}

void write_gemm(GraphWriter& w) {
  const Value x = w.input(0), weights = w.input(1);
  const onnx::Node& node = w.node();
  if (node.number("alpha", 1) != 1 || node.number("beta", 1) != 1 || node.integer("transA", 0) != 0)
    throw Unwritable("it scales or turns its input");
  if (weights.constant == nullptr) throw Unwritable("its weights are computed");
  const bool is_turned = node.integer("transB", 0) != 0;
  const int tensor = w.in_order(weights, is_turned ? Ints{0, 1} : Ints{1, 0});
  write_rows(w, x, tensor, weights.dims[is_turned ? 0 : 1], w.has(2) ? w.input(2) : Value{});
}

Ints swapped_ends(std::size_t rank) {
  Ints order = plain_order(rank);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

void write_mat_mul(GraphWriter& w) {
  const Value a = w.input(0), b = w.input(1);
  if (a.rank() < 2 || b.rank() < 2) throw Unwritable("its inputs are no matrices");
  if (b.constant != nullptr && b.rank() == 2)
    return write_rows(w, a, w.in_order(b, {1, 0}), b.dims[1], Value{});
  const bool a_turned = a.order == swapped_ends(a.rank()),
             b_turned = b.order == swapped_ends(b.rank());
  Ints dims = broadcast({a.dims.begin(), a.dims.end() - 2}, {b.dims.begin(), b.dims.end() - 2});
  dims.push_back(a.dims[a.rank() - 2]);
  dims.push_back(b.dims.back());
  const int left = a_turned ? a.tensor : w.plain(a), right = b_turned ? b.tensor : w.plain(b);
  const int result =
      w.add(ops::kBatchMatMul, {left, right}, dims,
            GraphWriter::options(file::CreateBatchMatMulOptions(w.builder(), a_turned, b_turned)));
  w.end({dims, plain_order(dims.size()), result});
}

// --- over axes ----------------------------------------------------------------------------------

void write_reduction_of(GraphWriter& w, const OperatorCode& code, const Ints& axes, bool keeps) {
  Value x = w.input(0);
  if (x.rank() == 3) x = {x.dims, plain_order(3), w.plain(x), x.type};  // rows, as norms have them
  std::set<std::int64_t> gone;
  for (const std::int64_t axis : axes)
    gone.insert(static_cast<std::int64_t>(w.axis_of(axis, x.rank())));
  Ints places;
  for (const std::int64_t axis : gone) places.push_back(x.place_of(axis));
  std::sort(places.begin(), places.end());
  Value y{{}, {}};
  Ints dims;  // the tensor's
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const bool is_gone = gone.contains(static_cast<std::int64_t>(axis));
    if (!is_gone || keeps) y.dims.push_back(is_gone ? 1 : x.dims[axis]);
  }
  for (const std::int64_t axis : x.order) {
    const bool is_gone = gone.contains(axis);
    if (is_gone && !keeps) continue;
    const auto before = keeps ? 0 : std::distance(gone.begin(), gone.lower_bound(axis));
    y.order.push_back(axis - before);
    dims.push_back(is_gone ? 1 : x.dims[static_cast<std::size_t>(axis)]);
  }
  y.tensor = w.add(code, {w.in_order(x, x.order), w.ints(places)}, dims,
                   GraphWriter::options(file::CreateReducerOptions(w.builder(), keeps)));
  w.end(y);
}

template <const OperatorCode& code>
void write_reduction(GraphWriter& w) {
  const Ints axes = w.has(1) ? w.input_ints(1) : w.node().integers("axes");
  if (axes.empty()) throw Unwritable("it names no axes");
  write_reduction_of(w, code, axes, w.node().integer("keepdims", 1) != 0);
}

void write_global_mean(GraphWriter& w) {
  Ints axes = plain_order(w.input(0).rank());
  axes.erase(axes.begin(), axes.begin() + 2);
  write_reduction_of(w, ops::kMean, axes, true);
}

// What is left of a batch norm that no convolution has in itself: by its channels' running
// statistics.
void write_batch_norm(GraphWriter& w) {
  const Value x = w.input(0);
  const double epsilon = w.node().number("epsilon", 1e-5);
  const auto& gamma = w.input_constant(1).floats;
  const auto &beta = w.input_constant(2).floats, &mean = w.input_constant(3).floats,
             &variance = w.input_constant(4).floats;
  Ints dims(x.rank() - 1, 1);
  dims[0] = static_cast<std::int64_t>(gamma.size());
  onnx::Tensor factors = onnx::Tensor::of(dims, gamma), shifts = onnx::Tensor::of(dims, beta);
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    const double factor = gamma[c] / std::sqrt(static_cast<double>(variance[c]) + epsilon);
    factors.floats[c] = static_cast<float>(factor);
    shifts.floats[c] = static_cast<float>(beta[c] - mean[c] * factor);
  }
  const Value scaled = binary(w, ops::kMul, x, w.of("factors", std::move(factors)));
  const Value shift = w.of("shifts", std::move(shifts));
  w.end(binary(w, ops::kAdd, scaled, shift, w.take_activation()));
}

}  // namespace

Value binary(GraphWriter& w, const OperatorCode& code, const Value& a, const Value& b,
             int activation) {
  const Ints order = common_order({a, b});
  Value result{broadcast(a.dims, b.dims), order};
  result.type = a.type;
  Ints dims;
  for (const std::int64_t axis : order) dims.push_back(result.dims[static_cast<std::size_t>(axis)]);
  const int left = operand(w, a, order), right = operand(w, b, order);
  result.tensor = w.add(code, {left, right}, dims, activation_options(w, activation), result.type);
  return result;
}

void add_arithmetic_writers(NodeWriters& writers) {
  writers.insert({{"Add", write_sum<ops::kAdd>},
                  {"And", write_comparison<ops::kLogicalAnd>},
                  {"BatchNormalization", write_batch_norm},
                  {"Clip", write_clip},
                  {"Div", write_sum<ops::kDiv>},
                  {"Elu", write_elu},
                  {"Exp", write_unary<ops::kExp>},
                  {"Gelu", write_gelu},
                  {"Gemm", write_gemm},
                  {"GlobalAveragePool", write_global_mean},
                  {"HardSigmoid", write_hard_sigmoid},
                  {"HardSwish", write_unary<ops::kHardSwish>},
                  {"LeakyRelu", write_leaky_relu},
                  {"Less", write_comparison<ops::kLess>},
                  {"LessOrEqual", write_comparison<ops::kLessEqual>},
                  {"Log", write_unary<ops::kLog>},
                  {"LogSoftmax", write_log_softmax},
                  {"MatMul", write_mat_mul},
                  {"Max", write_extreme<ops::kMaximum>},
                  {"Min", write_extreme<ops::kMinimum>},
                  {"Mul", write_sum<ops::kMul>},
                  {"PRelu", write_prelu},
                  {"Pow", write_power},
                  {"Reciprocal", write_reciprocal},
                  {"ReduceMax", write_reduction<ops::kReduceMax>},
                  {"ReduceMean", write_reduction<ops::kMean>},
                  {"ReduceMin", write_reduction<ops::kReduceMin>},
                  {"ReduceSum", write_reduction<ops::kSum>},
                  {"Relu", write_unary<ops::kRelu>},
                  {"Sigmoid", write_unary<ops::kLogistic>},
                  {"Softmax", write_softmax},
                  {"Softplus", write_softplus},
                  {"Sqrt", write_unary<ops::kSqrt>},
                  {"Sub", write_sum<ops::kSub>},
                  {"Tanh", write_unary<ops::kTanh>},
                  {"Where", write_choice}});
}

}  // namespace moil::tflite
