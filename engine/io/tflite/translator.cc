#include "engine/io/tflite/translator.h"

#include "base/error.h"
#include "engine/io/tflite/constants.h"

namespace moil::tflite {
namespace {

using file::TensorType;

// Fused activations (tflite.fbs).
constexpr int kFusedRelu = 1, kFusedReluN1To1 = 2, kFusedRelu6 = 3, kFusedTanh = 4;
bool is_whole(TensorType type) {
  return type == TensorType::INT32 || type == TensorType::INT64 || type == TensorType::UINT8 ||
         type == TensorType::INT8 || type == TensorType::INT16 || type == TensorType::BOOL;
}

// Converters join the names of what they joined: "conv/BiasAdd;conv/Conv2D".
std::string first_name(const file::Tensor& tensor) {
  if (tensor.name() == nullptr) return {};
  const std::string name = tensor.name()->str();
  return name.substr(0, name.find(';'));
}

// Extents that the file leaves open are -1; one that says its usual extent has that.
Ints open_dims_of(const file::Tensor& tensor) {
  Ints dims = dims_of(tensor);
  const auto* open = tensor.shape_signature();
  if (open == nullptr || open->size() != dims.size()) return dims;
  for (std::size_t k = 1; k < dims.size(); ++k)
    if (open->Get(static_cast<flatbuffers::uoffset_t>(k)) < 0 && dims[k] == 1) dims[k] = -1;
  return dims;
}

}  // namespace

Translator::Translator(std::span<const std::uint8_t> bytes, const file::Model& model)
    : bytes_(bytes), model_(model), subgraph_(*model.subgraphs()->Get(0)) {
  constexpr std::int64_t kOpset = 13;
  graph_.opset = kOpset;
  if (subgraph_.name() != nullptr && subgraph_.name()->str() != "main")
    graph_.name = subgraph_.name()->str();
}

void Translator::begin() {
  const auto& tensors = *subgraph_.tensors();
  std::set<int> inputs(subgraph_.inputs()->begin(), subgraph_.inputs()->end());
  std::set<int> computed;
  for (const file::Operator* op : *subgraph_.operators())
    if (op->outputs() != nullptr) computed.insert(op->outputs()->begin(), op->outputs()->end());
  for (flatbuffers::uoffset_t i = 0; i < tensors.size(); ++i)
    names_.push_back(fresh(first_name(*tensors[i])));
  for (flatbuffers::uoffset_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]->is_variable())
      throw Error(ErrorCode::kUnimplemented,
                  label_of(*tensors[i]) + " is kept from one sample to the next");
    if (inputs.contains(static_cast<int>(i))) continue;
    if (const file::Buffer* buffer = numbers_of(model_, *tensors[i]))
      graph_.constants[names_[i]] = constant_of(*tensors[i], *buffer);
    else if (is_whole(tensors[i]->type()) && dims_of(*tensors[i]) == Ints{0} &&
             !computed.contains(static_cast<int>(i)))
      graph_.constants[names_[i]] = onnx::Tensor::of_ints({0}, {});  // the shape of one number
  }
  for (const int index : *subgraph_.inputs()) add_input(index);
  for (const int index : *subgraph_.outputs())
    graph_.outputs.push_back({names_[static_cast<std::size_t>(index)], dims_of(tensor(index))});
}

// Numbers that are quantised become those that they stand for.
void Translator::add_input(int index) {
  const file::Tensor& one = tensor(index);
  const std::string& name = names_[static_cast<std::size_t>(index)];
  onnx::GraphValue value{name, open_dims_of(one)};
  const bool is_byte = one.type() == TensorType::UINT8 || one.type() == TensorType::INT8;
  value.is_float = one.type() == TensorType::FLOAT32 || one.type() == TensorType::FLOAT16;
  value.is_integer = one.type() == TensorType::INT32 || one.type() == TensorType::INT64;
  value.is_short = is_byte || one.type() == TensorType::INT16;
  value.is_byte = is_byte && is_quantised(one);
  if (!value.is_byte) return graph_.inputs.push_back(value);
  value.name = fresh(name + ".bytes");
  graph_.inputs.push_back(value);
  const auto& quantization = *one.quantization();
  const bool has_zero =
      quantization.zero_point() != nullptr && quantization.zero_point()->size() > 0;
  double zero = has_zero ? static_cast<double>(quantization.zero_point()->Get(0)) : 0.0;
  if (one.type() == TensorType::INT8) zero += 128;  // the byte of 0 to 255 that a pixel is
  const std::string floats = add("Cast", {value.name}, {{"to", kOnnxFloats}});
  const std::string from_zero = add("Sub", {floats, number(static_cast<float>(zero))});
  add("Mul", {from_zero, number(quantization.scale()->Get(0))}, {}, name);
}

const file::Tensor& Translator::tensor(int index) const {
  return *subgraph_.tensors()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

std::string Translator::fresh(const std::string& base) {
  std::string name = base;
  for (int i = 1; name.empty() || !taken_.insert(name).second; ++i)
    name = base + "." + std::to_string(i);
  return name;
}

void Translator::enter(const file::Operator& op) { op_ = &op; }

std::size_t Translator::inputs() const {
  return op_->inputs() == nullptr ? 0 : op_->inputs()->size();
}

std::size_t Translator::outputs() const {
  return op_->outputs() == nullptr ? 0 : op_->outputs()->size();
}

bool Translator::has(std::size_t k) const {
  return k < inputs() && op_->inputs()->Get(static_cast<flatbuffers::uoffset_t>(k)) >= 0;
}

int Translator::input_index(std::size_t k) const {
  if (!has(k)) throw Untranslatable("it has no input " + std::to_string(k));
  return op_->inputs()->Get(static_cast<flatbuffers::uoffset_t>(k));
}

const std::string& Translator::input(std::size_t k) const {
  return names_[static_cast<std::size_t>(input_index(k))];
}

const std::string& Translator::output(std::size_t k) const {
  if (k >= outputs()) throw Untranslatable("it has no output " + std::to_string(k));
  return names_[static_cast<std::size_t>(
      op_->outputs()->Get(static_cast<flatbuffers::uoffset_t>(k)))];
}

Ints Translator::input_dims(std::size_t k) const { return dims_of(tensor(input_index(k))); }

bool Translator::is_whole_number(std::size_t k) const {
  const file::Tensor& one = tensor(input_index(k));
  return is_whole(one.type()) && !is_quantised(one);
}

bool Translator::reads_complex_numbers() const {
  for (std::size_t k = 0; k < inputs(); ++k)
    if (has(k) && tensor(input_index(k)).type() == TensorType::COMPLEX64) return true;
  return false;
}

Ints Translator::input_ints(std::size_t k) const {
  const auto it = graph_.constants.find(input(k));
  if (it == graph_.constants.end() || it->second.is_float)
    throw Untranslatable("its input " + std::to_string(k) + " is no constant of whole numbers");
  return it->second.ints;
}

const flatbuffers::Table* Translator::no_options() {
  static const flatbuffers::DetachedBuffer kEmpty = [] {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(file::CreateUnread(builder));
    return builder.Release();
  }();
  return flatbuffers::GetRoot<flatbuffers::Table>(kEmpty.data());
}

void Translator::throw_bad_options() const {
  throw Error(ErrorCode::kBadData, "the options of the operator that makes \"" + output() +
                                       "\" lie outside of the file");
}

std::string Translator::add(const std::string& op, const std::vector<std::string>& inputs,
                            std::map<std::string, onnx::Attribute> attributes,
                            const std::string& to) {
  std::string output = to;
  if (to.empty())
    output = fresh((op_ == nullptr ? std::string("input") : this->output()) + "." + op);
  onnx::Node node;
  node.name = op_ == nullptr ? output : this->output();
  node.op = op;
  node.inputs = inputs;
  node.outputs = {output};
  node.attributes = std::move(attributes);
  graph_.nodes.push_back(std::move(node));
  return output;
}

std::string Translator::ints(const Ints& values) {
  const std::string name = fresh("numbers");
  graph_.constants[name] =
      onnx::Tensor::of_ints({static_cast<std::int64_t>(values.size())}, values);
  return name;
}

std::string Translator::whole(std::int64_t value) {
  const std::string name = fresh("number");
  graph_.constants[name] = onnx::Tensor::of_ints({}, {value});
  return name;
}

std::string Translator::number(float value) {
  const std::string name = fresh("number");
  graph_.constants[name] = onnx::Tensor::of({}, {value});
  return name;
}

std::string Translator::numbers(const Ints& dims, std::vector<float> values) {
  const std::string name = fresh("numbers");
  graph_.constants[name] = onnx::Tensor::of(dims, std::move(values));
  return name;
}

std::string Translator::to_channels(const std::string& value) {
  return add("Transpose", {value}, {{"perm", Ints{0, 3, 1, 2}}});
}

void Translator::end_in_last(const std::string& value, int activation) {
  end("Transpose", {value}, {{"perm", Ints{0, 2, 3, 1}}}, activation);
}

void Translator::end(const std::string& op, const std::vector<std::string>& inputs,
                     std::map<std::string, onnx::Attribute> attributes, int activation) {
  const std::string to = activation == 0 ? output() : std::string();
  activate(add(op, inputs, std::move(attributes), to), activation);
}

void Translator::activate(const std::string& value, int activation) {
  switch (activation) {
    case 0:
      return;
    case kFusedRelu:
      return end("Relu", {value});
    case kFusedReluN1To1:
      return end("Clip", {value, number(-1), number(1)});
    case kFusedRelu6:
      return end("Clip", {value, number(0), number(6)});
    case kFusedTanh:
      return end("Tanh", {value});
    default:
      throw Untranslatable("its fused activation is number " + std::to_string(activation));
  }
}

}  // namespace moil::tflite
