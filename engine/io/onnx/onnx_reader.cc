#include "engine/io/onnx/onnx_reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "engine/io/onnx/tensor_bytes.h"
#include "engine/io/onnx/utf8.h"

namespace moil::onnx {
namespace {

namespace fs = std::filesystem;
namespace pb = ::onnx;

[[noreturn]] void bad(const std::string& what) { throw Error(ErrorCode::kBadData, what); }
[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCode::kUnimplemented, what);
}

std::string in_quotes(const std::string& name) { return "\"" + name + "\""; }

// If a message has room for it.
std::string shortened(const std::string& name) {
  constexpr std::size_t kMost = 200;
  return in_quotes(name.size() <= kMost ? name : name.substr(0, kMost) + "...");
}

const std::string& checked_name(const std::string& name) {
  if (!is_utf8(name)) bad("a name in it is not UTF-8");
  return name;
}

struct ExternalData {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

ExternalData read_external_data(const pb::TensorProto& tensor, const std::string& what) {
  ExternalData data;
  for (const auto& entry : tensor.external_data()) {
    const std::string& text = entry.value();
    if (entry.key() == "location") data.location = text;
    if (entry.key() != "offset" && entry.key() != "length") continue;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
      bad(what + ": external data's " + entry.key() + " is not a number of bytes");
    if (entry.key() == "offset")
      data.offset = number;
    else
      data.length = number;
  }
  return data;
}

// Links are followed first, so that none leads out of the folder.
fs::path external_file(const std::string& location, const fs::path& folder,
                       const std::string& what) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  const fs::path file = fs::weakly_canonical(root / location, error);
  const auto [diverged, ignored] =
      std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (location.empty() || fs::path(location).is_absolute() || diverged != root.end())
    bad(what + ": its external data " + shortened(location) + " is not in the model's folder");
  if (!fs::exists(file, error))
    throw Error(ErrorCode::kNotFound, what + ": its external data " + shortened(location) +
                                          " is not there; it belongs beside the model");
  if (!fs::is_regular_file(file, error))
    bad(what + ": its external data " + shortened(location) + " is not a regular file");
  return file;
}

// Bytes of a tensor that lie in another file of the model's folder; `expected` of them.
std::vector<std::uint8_t> external_bytes(const pb::TensorProto& tensor, std::uint64_t expected,
                                         const fs::path& folder) {
  const std::string what = "tensor " + in_quotes(tensor.name());
  if (folder.empty()) bad(what + " lies in another file, which this model cannot have");
  const ExternalData data = read_external_data(tensor, what);
  const fs::path file = external_file(data.location, folder, what);
  const std::uint64_t size = fs::file_size(file);
  if (data.offset > size || data.length.value_or(0) > size - data.offset)
    bad(what + ": its external data ends behind the end of " + shortened(data.location));
  const std::uint64_t length = data.length.value_or(size - data.offset);
  if (length != expected)
    bad(what + ": its external data holds " + std::to_string(length) + " of " +
        std::to_string(expected) + " bytes that its elements take");
  return read_range(file, data.offset, length);
}

Tensor read_tensor(const pb::TensorProto& tensor, const fs::path& folder) {
  const std::string what = "tensor " + in_quotes(checked_name(tensor.name()));
  if (tensor.has_segment()) unsupported(what + " is cut into segments");
  Tensor result;
  result.dims.assign(tensor.dims().begin(), tensor.dims().end());
  const std::int64_t count = checked_elements(result.dims, what);
  result.is_float = is_float_type(tensor.data_type(), what);
  result.is_signed = is_signed_type(tensor.data_type());
  if (tensor.data_location() == pb::TensorProto::EXTERNAL) {
    const std::uint64_t bytes = raw_bytes(tensor.data_type(), count);
    decode_raw(external_bytes(tensor, bytes, folder), tensor.data_type(), count, what, result);
  } else if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    decode_raw({reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()}, tensor.data_type(),
               count, what, result);
  } else {
    decode_fields(tensor, count, what, result);
  }
  return result;
}

Attribute read_attribute(const pb::AttributeProto& attribute, const std::string& where,
                         const fs::path& folder) {
  switch (attribute.type()) {
    case pb::AttributeProto::INT:
      return attribute.i();
    case pb::AttributeProto::FLOAT:
      return static_cast<double>(attribute.f());
    case pb::AttributeProto::STRING:
      return attribute.s();
    case pb::AttributeProto::INTS:
      return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case pb::AttributeProto::FLOATS:
      return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    case pb::AttributeProto::STRINGS:
      return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
    case pb::AttributeProto::TENSOR:
      return read_tensor(attribute.t(), folder);
    default:
      unsupported(where + ": attribute " + in_quotes(attribute.name()) +
                  " is neither number, text nor tensor (subgraphs are not supported)");
  }
}

Node read_node(const pb::NodeProto& proto, const fs::path& folder) {
  Node node;
  node.name = checked_name(proto.name());
  node.op = checked_name(proto.op_type());
  node.domain = proto.domain() == "ai.onnx" ? "" : checked_name(proto.domain());
  for (const std::string& name : proto.input()) (void)checked_name(name);
  for (const std::string& name : proto.output()) (void)checked_name(name);
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const auto& attribute : proto.attribute())
    node.attributes[checked_name(attribute.name())] =
        read_attribute(attribute, node.label(), folder);
  return node;
}

GraphValue read_value(const pb::ValueInfoProto& proto) {
  GraphValue value;
  value.name = checked_name(proto.name());
  const auto& type = proto.type().tensor_type();
  value.is_float = type.elem_type() == pb::TensorProto::FLOAT ||
                   type.elem_type() == pb::TensorProto::FLOAT16 ||
                   type.elem_type() == pb::TensorProto::DOUBLE;
  value.is_integer =
      type.elem_type() == pb::TensorProto::INT32 || type.elem_type() == pb::TensorProto::INT64;
  value.is_byte = type.elem_type() == pb::TensorProto::UINT8;
  value.is_short = value.is_byte || type.elem_type() == pb::TensorProto::INT8 ||
                   type.elem_type() == pb::TensorProto::INT16 ||
                   type.elem_type() == pb::TensorProto::UINT16;
  for (const auto& dim : type.shape().dim())
    value.dims.push_back(dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value() : -1);
  return value;
}

Graph read_graph(const pb::ModelProto& model, const fs::path& folder) {
  const pb::GraphProto& proto = model.graph();
  if (proto.node_size() > kMaxNodes)
    bad(std::to_string(proto.node_size()) + " nodes; at most " + std::to_string(kMaxNodes) +
        " are read");
  if (proto.sparse_initializer_size() > 0) unsupported("sparse tensors are not supported");
  Graph graph;
  graph.name = checked_name(proto.name());
  for (const auto& opset : model.opset_import())
    if (opset.domain().empty() || opset.domain() == "ai.onnx") graph.opset = opset.version();
  for (const auto& tensor : proto.initializer())
    if (!graph.constants.emplace(tensor.name(), read_tensor(tensor, folder)).second)
      bad("two tensors are named " + in_quotes(tensor.name()));
  for (const auto& input : proto.input())
    if (!graph.constants.contains(input.name())) graph.inputs.push_back(read_value(input));
  for (const auto& output : proto.output()) graph.outputs.push_back(read_value(output));
  for (const auto& node : proto.node()) graph.nodes.push_back(read_node(node, folder));
  for (const auto& entry : model.metadata_props()) graph.metadata[entry.key()] = entry.value();
  return graph;
}

// protobuf itself bounds the nesting.
Graph parse(std::string_view bytes, const std::string& where, const fs::path& folder) {
  if (bytes.size() > kMaxFileBytes) bad(where + ": larger than an ONNX file can be");
  pb::ModelProto model;
  google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage() || !model.has_graph())
    bad(where + ": not an ONNX model, or cut short");
  try {
    return read_graph(model, folder);
  } catch (const Error& e) {
    throw Error(e.code(), where + ": " + e.what());
  }
}

}  // namespace

Graph parse_onnx(std::string_view bytes, const std::string& where) {
  return parse(bytes, where, {});
}

Graph read_onnx(const fs::path& path) {
  const std::vector<std::uint8_t> bytes = read_file(path, kMaxFileBytes);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string(), folder);
}

}  // namespace moil::onnx
