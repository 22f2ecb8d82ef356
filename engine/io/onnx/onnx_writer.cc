#include "engine/io/onnx/onnx_writer.h"

#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/version.h"
#include "engine/io/onnx/onnx_reader.h"

namespace moil::onnx {
namespace {

namespace pb = ::onnx;

constexpr int kIrVersion = 7;  // the first that opset 14 came with

void fill(const Tensor& tensor, const std::string& name, pb::TensorProto& proto) {
  proto.set_name(name);
  for (const std::int64_t dim : tensor.dims) proto.add_dims(dim);
  const auto raw = [&](const auto& values) {
    proto.set_raw_data(values.data(), values.size() * sizeof(values[0]));
  };
  proto.set_data_type(tensor.is_float ? pb::TensorProto::FLOAT : pb::TensorProto::INT64);
  if (tensor.is_float)
    raw(tensor.floats);
  else
    raw(tensor.ints);
}

struct AttributeWriter {
  pb::AttributeProto& proto;

  void operator()(std::int64_t value) const {
    proto.set_type(pb::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(double value) const {
    proto.set_type(pb::AttributeProto::FLOAT);
    proto.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    proto.set_type(pb::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    proto.set_type(pb::AttributeProto::INTS);
    for (const std::int64_t v : values) proto.add_ints(v);
  }
  void operator()(const std::vector<double>& values) const {
    proto.set_type(pb::AttributeProto::FLOATS);
    for (const double v : values) proto.add_floats(static_cast<float>(v));
  }
  void operator()(const std::vector<std::string>& values) const {
    proto.set_type(pb::AttributeProto::STRINGS);
    for (const std::string& v : values) proto.add_strings(v);
  }
  void operator()(const Tensor& tensor) const {
    proto.set_type(pb::AttributeProto::TENSOR);
    fill(tensor, "", *proto.mutable_t());
  }
};

void fill(const Node& node, pb::NodeProto& proto) {
  proto.set_name(node.name);
  proto.set_op_type(node.op);
  proto.set_domain(node.domain);
  for (const std::string& input : node.inputs) proto.add_input(input);
  for (const std::string& output : node.outputs) proto.add_output(output);
  for (const auto& [name, value] : node.attributes) {
    pb::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    std::visit(AttributeWriter{attribute}, value);
  }
}

// A dimension of -1 is the batch.
void fill(const GraphValue& value, pb::ValueInfoProto& proto) {
  proto.set_name(value.name);
  auto& type = *proto.mutable_type()->mutable_tensor_type();
  type.set_elem_type(value.is_float ? pb::TensorProto::FLOAT : pb::TensorProto::INT64);
  for (const std::int64_t dim : value.dims) {
    auto& to = *type.mutable_shape()->add_dim();
    if (dim < 0)
      to.set_dim_param("batch");
    else
      to.set_dim_value(dim);
  }
}

}  // namespace

std::string format_onnx(const Graph& graph) {
  pb::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("moild");
  model.set_producer_version(kVersion);
  model.add_opset_import()->set_version(graph.opset);
  for (const auto& [key, value] : graph.metadata) {
    auto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  pb::GraphProto& proto = *model.mutable_graph();
  proto.set_name(graph.name);
  for (const GraphValue& input : graph.inputs) fill(input, *proto.add_input());
  for (const GraphValue& output : graph.outputs) fill(output, *proto.add_output());
  for (const Node& node : graph.nodes) fill(node, *proto.add_node());
  for (const auto& [name, tensor] : graph.constants) fill(tensor, name, *proto.add_initializer());
  if (model.ByteSizeLong() > kMaxFileBytes)
    throw Error(ErrorCode::kResourceExhausted, "the model is too large for one ONNX file");
  return model.SerializeAsString();
}

void write_onnx(const std::filesystem::path& path, const Graph& graph) {
  write_file_atomic(path, format_onnx(graph));
}

}  // namespace moil::onnx
