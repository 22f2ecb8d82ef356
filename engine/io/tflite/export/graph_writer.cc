#include "engine/io/tflite/export/graph_writer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/problems.h"
#include "engine/io/tflite/export/operator_codes.h"

namespace moil::tflite {
namespace {

using file::TensorType;

Ints permuted(const Ints& dims, const Ints& order) {
  Ints result;
  for (const std::int64_t axis : order) result.push_back(dims[static_cast<std::size_t>(axis)]);
  return result;
}

// Whether going from one order of axes to the other moves nothing in memory.
bool moves_nothing(const Ints& dims, const Ints& from, const Ints& to) {
  const auto long_axes = [&](const Ints& order) {
    Ints axes;
    for (const std::int64_t axis : order)
      if (dims[static_cast<std::size_t>(axis)] != 1) axes.push_back(axis);
    return axes;
  };
  return long_axes(from) == long_axes(to);
}

onnx::Tensor turned_constant(const onnx::Tensor& tensor, const Ints& order) {
  onnx::Node node{"constant", "Transpose", "", {}, {}, {}};
  node.attributes["perm"] = order;
  const onnx::Tensor* const inputs[] = {&tensor};
  return *onnx::fold(node, inputs);
}

std::vector<std::int32_t> short_ints(const Ints& values) {
  std::vector<std::int32_t> result;
  for (const std::int64_t value : values)
    result.push_back(static_cast<std::int32_t>(
        std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(),
                                 std::numeric_limits<std::int32_t>::max())));
  return result;
}

template <class T>
std::span<const std::uint8_t> bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

const NodeWriters& node_writers() {
  static const NodeWriters kWriters = [] {
    NodeWriters writers;
    add_window_writers(writers);
    add_arithmetic_writers(writers);
    add_arrangement_writers(writers);
    return writers;
  }();
  return kWriters;
}

}  // namespace

std::int64_t Value::place_of(std::int64_t axis) const {
  return std::find(order.begin(), order.end(), axis) - order.begin();
}

bool Value::is_number() const { return constant != nullptr && constant->elements() == 1; }

Ints plain_order(std::size_t rank) {
  Ints order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Ints image_order(std::size_t rank) {
  Ints order = plain_order(rank);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

Ints common_order(const std::vector<Value>& values) {
  std::size_t rank = 0;
  for (const Value& value : values) rank = std::max(rank, value.rank());
  const Ints plain = plain_order(rank);
  Ints order = plain;
  for (const Value& value : values) {
    if (value.rank() != rank) continue;
    if (rank == 3 && value.order == plain) return plain;
    if (order == plain) order = value.order;
  }
  return order;
}

std::int64_t elements_of(const Ints& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

GraphWriter::GraphWriter(onnx::Graph graph) : graph_(std::move(graph)), index_(graph_) {}

bool GraphWriter::has(std::size_t k) const {
  return k < node_->inputs.size() && !node_->inputs[k].empty();
}

Value GraphWriter::input(std::size_t k) {
  if (!has(k)) throw Unwritable("it has no input " + std::to_string(k));
  const std::string& name = node_->inputs[k];
  if (const auto it = values_.find(name); it != values_.end()) return it->second;
  const onnx::Tensor& tensor = constants_.at(name);
  return {tensor.dims, plain_order(tensor.dims.size()),
          -1,          tensor.is_float ? TensorType::FLOAT32 : TensorType::INT32,
          &tensor,     name};
}

const onnx::Tensor& GraphWriter::input_constant(std::size_t k) {
  const Value value = input(k);
  if (value.constant == nullptr)
    throw Unwritable("its input \"" + node_->inputs[k] + "\" is computed, not constant");
  return *value.constant;
}

Ints GraphWriter::input_ints(std::size_t k) { return input_constant(k).ints; }

std::size_t GraphWriter::axis_of(std::int64_t axis, std::size_t rank) const {
  return onnx::axis_of(*node_, axis, rank);
}

int GraphWriter::tensor_of(const Value& constant, const Ints& order) {
  const auto key = std::pair(constant.name, order);
  if (const auto it = written_.find(key); it != written_.end()) return it->second;
  const bool is_plain = order == plain_order(order.size());
  const onnx::Tensor turned =
      is_plain ? onnx::Tensor{} : turned_constant(*constant.constant, order);
  const onnx::Tensor& tensor = is_plain ? *constant.constant : turned;
  if (!tensor.is_float) return written_[key] = ints(tensor.ints, tensor.dims);
  return written_[key] = file_.add_constant(constant.name, tensor.dims, TensorType::FLOAT32,
                                            bytes_of(tensor.floats));
}

int GraphWriter::in_order(const Value& value, const Ints& order) {
  if (value.constant != nullptr) return tensor_of(value, order);
  if (value.order == order) return value.tensor;
  Ints steps;
  for (const std::int64_t axis : order) steps.push_back(value.place_of(axis));
  const auto key = std::pair(value.tensor, steps);
  if (const auto it = turned_.find(key); it != turned_.end()) return it->second;
  const Ints dims = permuted(value.dims, order);
  if (moves_nothing(value.dims, value.order, order)) {
    Value lying{tensor_dims(value.tensor), plain_order(order.size()), value.tensor, value.type};
    return turned_[key] = reshaped(lying, dims).tensor;
  }
  return turned_[key] =
             add(ops::kTranspose, {value.tensor, ints(steps)}, dims, no_options(), value.type);
}

Value GraphWriter::reshaped(const Value& value, const Ints& dims) {
  const Ints order = plain_order(dims.size());
  const bool lies_plain = value.constant == nullptr &&
                          moves_nothing(value.dims, value.order, plain_order(value.rank()));
  const int from = lies_plain ? value.tensor : plain(value);
  if (tensor_dims(from) == dims) return {dims, order, from, value.type};
  Ints shape = dims;
  const bool by_samples = !dims.empty() && dims[0] == 1 && value.rank() > 0 && value.dims[0] == 1;
  if (by_samples) shape[0] = -1;
  const std::vector<std::int32_t> said = short_ints(shape);
  const Options table = options(
      file::CreateReshapeOptions(builder(), builder().CreateVector(said.data(), said.size())));
  return {dims, order, add(ops::kReshape, {from, ints(shape)}, dims, table, value.type),
          value.type};
}

int GraphWriter::ints(const Ints& values, std::optional<Ints> dims) {
  const Ints shape = dims ? *dims : Ints{static_cast<std::int64_t>(values.size())};
  const auto key = std::pair(shape, values);
  if (const auto it = ints_.find(key); it != ints_.end()) return it->second;
  const std::vector<std::int32_t> numbers = short_ints(values);
  return ints_[key] = file_.add_constant("numbers." + std::to_string(ints_.size()), shape,
                                         TensorType::INT32, bytes_of(numbers));
}

Value GraphWriter::number(float value) {
  return of("number." + std::to_string(std::bit_cast<std::uint32_t>(value)),
            onnx::Tensor::of({}, {value}));
}

Value GraphWriter::of(const std::string& short_name, onnx::Tensor tensor) {
  const std::string name = node_->outputs[0] + "/" + short_name;
  const onnx::Tensor& kept = constants_[name] = std::move(tensor);
  return {kept.dims, plain_order(kept.dims.size()), -1, TensorType::FLOAT32, &kept, name};
}

int GraphWriter::add(const OperatorCode& code, const std::vector<int>& inputs,
                     const Ints& tensor_dims, Options options, file::TensorType type) {
  const std::string base = node_ == nullptr ? std::string("output") : node_->outputs[0];
  const int output = file_.add_tensor(base + ".part", tensor_dims, type);
  file_.add_operator(code, inputs, {output}, options);
  unnamed_.insert(output);
  return output;
}

Value GraphWriter::add_like(const OperatorCode& code, const Value& value, Options options) {
  Value result = value;
  const int from = in_order(value, value.order);
  result.tensor = add(code, {from}, permuted(value.dims, value.order), options, value.type);
  result.constant = nullptr;
  return result;
}

const onnx::Node* GraphWriter::only_reader() const {
  const auto it = index_.readers.find(end_);
  return it == index_.readers.end() || it->second.size() != 1 ? nullptr : it->second[0];
}

void GraphWriter::take(const onnx::Node& node) {
  taken_.insert(&node);
  end_ = node.outputs[0];
}

int GraphWriter::take_activation() {
  constexpr int kToRelu = 1, kToRelu6 = 3;  // fused (tflite.fbs)
  const onnx::Node* next = only_reader();
  if (next == nullptr) return 0;
  if (next->op == "Relu") return take(*next), kToRelu;
  if (next->op != "Clip" || next->inputs.size() != 3) return 0;
  const auto is_number = [&](std::size_t k, float value) {
    const auto it = constants_.find(next->inputs[k]);
    return it != constants_.end() && it->second.floats == std::vector{value};
  };
  if (!is_number(1, 0) || !is_number(2, 6)) return 0;
  return take(*next), kToRelu6;
}

const onnx::Tensor* GraphWriter::take_bias(std::int64_t count, std::string& name) {
  const onnx::Node* next = only_reader();
  if (next == nullptr || next->op != "Add" || next->inputs.size() != 2) return nullptr;
  name = next->inputs[next->inputs[0] == end_ ? 1 : 0];
  const auto it = constants_.find(name);
  if (it == constants_.end() || it->second.dims != Ints{count}) return nullptr;
  take(*next);
  return &it->second;
}

void GraphWriter::end(Value value) {
  if (unnamed_.erase(value.tensor) > 0) file_.rename(value.tensor, end_);
  values_[end_] = std::move(value);
}

// What is known needs no operator.
bool GraphWriter::fold_node(const onnx::Node& node) {
  if (node.op == "Shape") {
    constants_[node.outputs[0]] = onnx::shape_of(node, input(0).dims);
    return true;
  }
  std::vector<const onnx::Tensor*> inputs;
  for (const std::string& name : node.inputs) {
    const auto it = constants_.find(name);
    if (!name.empty() && it == constants_.end()) return false;
    inputs.push_back(name.empty() ? nullptr : &it->second);
  }
  std::optional<onnx::Tensor> result = onnx::fold(node, inputs);
  if (!result) return false;
  constants_[node.outputs[0]] = std::move(*result);
  return true;
}

// Whether all that it reads was written: a node behind one that cannot be is no further problem.
bool GraphWriter::is_reached(const onnx::Node& node) const {
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& name) {
    return name.empty() || values_.contains(name) || constants_.contains(name);
  });
}

void GraphWriter::write_node(const onnx::Node& node) {
  node_ = &node;
  if (fold_node(node)) return;
  const auto it = node_writers().find(node.op);
  if (it == node_writers().end()) throw Unwritable("the format has nothing for it");
  end_ = node.outputs[0];
  it->second(*this);
}

int GraphWriter::add_input(const onnx::GraphValue& input) {
  Value value{input.dims, plain_order(input.dims.size())};
  value.dims[0] = 1;
  if (value.rank() == 4) value.order = image_order(4);
  value.type = input.is_float ? TensorType::FLOAT32 : TensorType::INT32;
  value.tensor = file_.add_tensor(input.name, permuted(value.dims, value.order), value.type);
  values_[input.name] = value;
  return value.tensor;
}

// In the graph's order; a tensor that an operator computes for this output alone.
int GraphWriter::finished(const onnx::GraphValue& output, const std::set<int>& others) {
  node_ = nullptr;
  const auto it = values_.find(output.name);
  if (it == values_.end())
    throw Error(ErrorCode::kUnimplemented, "output \"" + output.name + "\" is constant");
  const Value& value = it->second;
  int tensor = plain(value);
  if (!file_.is_computed(tensor) || others.contains(tensor)) {
    const std::vector<std::int32_t> said = short_ints(value.dims);
    const Options table = options(
        file::CreateReshapeOptions(builder(), builder().CreateVector(said.data(), said.size())));
    tensor = add(ops::kReshape, {tensor, ints(value.dims)}, value.dims, table, value.type);
  }
  file_.rename(tensor, output.name);
  return tensor;
}

std::string GraphWriter::write() {
  std::vector<int> inputs, outputs;
  for (const onnx::GraphValue& input : graph_.inputs) inputs.push_back(add_input(input));
  onnx::Problems problems;
  for (const onnx::Node& node : graph_.nodes) {
    if (taken_.contains(&node) || !is_reached(node)) continue;
    try {
      write_node(node);
    } catch (const Unwritable& e) {
      problems.tell(node.label() + ": " + e.what());
    }
  }
  problems.refuse_if_any(graph_.nodes.size(), "nodes");
  std::set<int> ends;
  for (const onnx::GraphValue& output : graph_.outputs) {
    outputs.push_back(finished(output, ends));
    ends.insert(outputs.back());
  }
  for (const auto& [name, text] : graph_.metadata) file_.add_metadata(name, text);
  return file_.finish(graph_.name.empty() ? "main" : graph_.name, inputs, outputs);
}

}  // namespace moil::tflite
