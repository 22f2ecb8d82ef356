#include "engine/io/onnx/export/onnx_export.h"

#include "base/error.h"

namespace moil::onnx {
namespace {

GraphValue ended(const moil::Value& value) {
  const auto dims = value.info.dims.values();
  const bool is_float = value.info.type != moil::ElementType::kInt32;
  GraphValue result{value.name, {dims.begin(), dims.end()}, is_float, !is_float};
  result.dims[0] = -1;
  return result;
}

const LayerWriters& writers() {
  static const LayerWriters all = [] {
    LayerWriters table;
    add_image_writers(table);
    add_sequence_writers(table);
    add_recurrent_writers(table);
    add_attention_writers(table);
    return table;
  }();
  return all;
}

// Null if there is none.
auto writer_of(const std::string& type, const LayerWriters& instead) {
  for (const LayerWriters* table : {&instead, &writers()})
    if (const auto it = table->find(type); it != table->end()) return it->second;
  return LayerWriters::mapped_type{};
}

}  // namespace

Graph export_onnx(const ModelDescription& model, const WeightMap& weights,
                  const std::map<std::string, std::string>& metadata, const LayerWriters& instead) {
  const moil::Graph built = build_graph(model, 1);
  Graph graph;
  graph.name = model.name;
  graph.opset = kExportOpset;
  graph.metadata = metadata;
  for (const int v : built.inputs)
    graph.inputs.push_back(ended(built.values[static_cast<std::size_t>(v)]));
  LayerWriter writer(model, weights, built, graph);
  for (const moil::Node& node : built.nodes) {
    const auto write = writer_of(node.type, instead);
    if (write == nullptr)
      throw Error(ErrorCode::kUnimplemented,
                  "layer \"" + node.name + "\": ONNX has no operator for " + node.type);
    writer.begin(node);
    write(writer);
  }
  for (const int v : built.outputs)
    graph.outputs.push_back(ended(built.values[static_cast<std::size_t>(v)]));
  return graph;
}

}  // namespace moil::onnx
