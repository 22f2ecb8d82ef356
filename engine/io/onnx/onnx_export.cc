#include "engine/io/onnx/onnx_export.h"

#include <string_view>
#include <utility>

#include "base/error.h"
#include "engine/graph/graph.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

class Exporter {
 public:
  Exporter(const ModelDescription& model, const WeightMap& weights)
      : model_(model), weights_(weights), built_(build_graph(model, 1)) {}

  Graph run(const std::map<std::string, std::string>& metadata) {
    graph_.name = model_.name;
    graph_.opset = kExportOpset;
    graph_.metadata = metadata;
    for (const int v : built_.inputs) graph_.inputs.push_back(ended(v));
    for (const moil::Node& node : built_.nodes) add_layer(node);
    for (const int v : built_.outputs) graph_.outputs.push_back(ended(v));
    return std::move(graph_);
  }

 private:
  using Handler = void (Exporter::*)();

  GraphValue ended(int v) const {
    const Value& value = built_.values[static_cast<std::size_t>(v)];
    const auto dims = value.info.dims.values();
    GraphValue result{value.name, {dims.begin(), dims.end()}, true};
    result.dims[0] = -1;
    return result;
  }

  static const std::map<std::string, Handler, std::less<>>& handlers() {
    static const std::map<std::string, Handler, std::less<>> table = {
        {"add", &Exporter::add_sum},
        {"average_pool", &Exporter::add_average_pool},
        {"batch_norm", &Exporter::add_batch_norm},
        {"concat", &Exporter::add_concat},
        {"conv2d", &Exporter::add_conv},
        {"dropout", &Exporter::add_dropout},
        {"flatten", &Exporter::add_flatten},
        {"fully_connected", &Exporter::add_gemm},
        {"global_average_pool", &Exporter::add_global_average_pool},
        {"hard_sigmoid", &Exporter::add_hard_sigmoid},
        {"leaky_relu", &Exporter::add_leaky_relu},
        {"max_pool", &Exporter::add_max_pool},
        {"relu6", &Exporter::add_relu6},
        {"silu", &Exporter::add_silu},
        {"softmax", &Exporter::add_softmax},
    };
    return table;
  }

  // Layers that are one ONNX node with the same inputs and no attributes.
  static const char* plain_operator(std::string_view type) {
    static const std::map<std::string_view, const char*> table = {
        {"hard_swish", "HardSwish"}, {"identity", "Identity"},
        {"multiply", "Mul"},         {"relu", "Relu"},
        {"sigmoid", "Sigmoid"},      {"tanh", "Tanh"},
    };
    const auto it = table.find(type);
    return it == table.end() ? nullptr : it->second;
  }

  void add_layer(const moil::Node& node) {
    layer_ = &node;
    for (const LayerDescription& layer : model_.layers)
      if (layer.name == node.name) properties_ = &layer.properties;
    if (const char* op = plain_operator(node.type)) {
      emit(op, inputs());
      return;
    }
    const auto it = handlers().find(node.type);
    if (it == handlers().end())
      throw Error(ErrorCode::kUnimplemented,
                  "layer \"" + node.name + "\": ONNX has no operator for " + node.type);
    (this->*it->second)();
  }

  // The layer's inputs and output, by their names in the file, which are ours.
  std::vector<std::string> inputs() const {
    std::vector<std::string> names;
    for (const int v : layer_->inputs)
      names.push_back(built_.values[static_cast<std::size_t>(v)].name);
    return names;
  }
  const TensorInfo& input_info() const {
    return built_.values[static_cast<std::size_t>(layer_->inputs[0])].info;
  }

  Node& emit(const std::string& op, std::vector<std::string> from, std::string to = {},
             std::map<std::string, Attribute> attributes = {}) {
    const std::string name = to.empty() ? layer_->name : to;
    graph_.nodes.push_back({name, op, "", std::move(from), {name}, std::move(attributes)});
    return graph_.nodes.back();
  }

  std::string add_weight(const std::string& short_name) {
    const std::string name = layer_->name + "." + short_name;
    const auto it = weights_.find(name);
    if (it == weights_.end())
      throw Error(ErrorCode::kBadData, "weight \"" + name + "\" is missing");
    graph_.constants[name] = Tensor::of(it->second.dims, it->second.data);
    return name;
  }

  std::string add_number(const std::string& short_name, float value) {
    const std::string name = layer_->name + "." + short_name;
    graph_.constants[name] = Tensor::of({}, {value});
    return name;
  }

  PropertyReader reader() const { return {layer_->name, *properties_}; }

  bool flag(const std::string& name, bool fallback) const { return reader().flag(name, fallback); }

  Ints two(const std::string& name, std::int64_t fallback) const {
    return reader().integers(name, 2, fallback);
  }

  // Ours are top, left, bottom, right as ONNX's are.
  Ints pads() const {
    const auto it = properties_->find("padding");
    const Ints* list = it == properties_->end() ? nullptr : std::get_if<Ints>(&it->second);
    if (list != nullptr && list->size() == 4) return *list;
    const Ints both = two("padding", 0);
    return {both[0], both[1], both[0], both[1]};
  }

  void add_conv() {
    std::vector<std::string> from = inputs();
    from.push_back(add_weight("weight"));
    if (flag("bias", true)) from.push_back(add_weight("bias"));
    emit("Conv", from, {},
         {{"kernel_shape", two("kernel", 1)},
          {"strides", two("stride", 1)},
          {"dilations", two("dilation", 1)},
          {"pads", pads()},
          {"group", reader().integer("groups", 1, 1)}});
  }

  void add_gemm() {
    std::vector<std::string> from = inputs();
    from.push_back(add_weight("weight"));
    if (flag("bias", true)) from.push_back(add_weight("bias"));
    emit("Gemm", from, {}, {{"transB", std::int64_t{1}}});
  }

  void add_batch_norm() {
    std::vector<std::string> from = inputs();
    for (const char* name : {"gamma", "beta", "running_mean", "running_var"})
      from.push_back(add_weight(name));
    emit("BatchNormalization", from, {},
         {{"epsilon", reader().number("epsilon", 1e-5)},
          {"momentum", 1 - reader().number("momentum", 0.1)}});
  }

  std::map<std::string, Attribute> window() const {
    const Ints kernel = two("kernel", 1);
    const Ints stride = properties_->contains("stride") ? two("stride", 1) : kernel;
    return {{"kernel_shape", kernel},
            {"strides", stride},
            {"pads", pads()},
            {"ceil_mode", std::int64_t{flag("ceil_mode", false)}}};
  }

  void add_max_pool() { emit("MaxPool", inputs(), {}, window()); }

  void add_average_pool() {
    auto attributes = window();
    attributes["count_include_pad"] = std::int64_t{flag("count_include_pad", true)};
    emit("AveragePool", inputs(), {}, std::move(attributes));
  }

  void add_global_average_pool() {
    if (flag("keep_dims", false)) {
      emit("GlobalAveragePool", inputs());
      return;
    }
    emit("ReduceMean", inputs(), {}, {{"axes", Ints{2, 3}}, {"keepdims", std::int64_t{0}}});
  }

  // Of two inputs in ONNX.
  void add_sum() {
    const std::vector<std::string> from = inputs();
    std::string sum = from[0];
    for (std::size_t i = 1; i < from.size(); ++i) {
      const bool last = i + 1 == from.size();
      const std::string to = last ? std::string() : layer_->name + ".sum" + std::to_string(i);
      sum = emit("Add", {sum, from[i]}, to).name;
    }
  }

  void add_concat() { emit("Concat", inputs(), {}, {{"axis", reader().integer("axis", 1)}}); }

  void add_flatten() { emit("Flatten", inputs(), {}, {{"axis", std::int64_t{1}}}); }

  void add_dropout() {
    std::vector<std::string> from = inputs();
    from.push_back(add_number("ratio", static_cast<float>(reader().number("rate", 0.5))));
    emit("Dropout", from);
  }

  void add_hard_sigmoid() {
    emit("HardSigmoid", inputs(), {}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
  }

  void add_leaky_relu() {
    emit("LeakyRelu", inputs(), {}, {{"alpha", reader().number("slope", 0.01)}});
  }

  void add_relu6() {
    std::vector<std::string> from = inputs();
    from.push_back(add_number("min", 0));
    from.push_back(add_number("max", 6));
    emit("Clip", from);
  }

  void add_silu() {
    const std::string gate = layer_->name + ".sigmoid";
    emit("Sigmoid", inputs(), gate);
    emit("Mul", {inputs()[0], gate});
  }

  void add_softmax() { emit("Softmax", inputs(), {}, {{"axis", std::int64_t{1}}}); }

  const ModelDescription& model_;
  const WeightMap& weights_;
  const moil::Graph built_;
  const moil::Node* layer_ = nullptr;
  const Properties* properties_ = nullptr;
  Graph graph_;
};

}  // namespace

Graph export_onnx(const ModelDescription& model, const WeightMap& weights,
                  const std::map<std::string, std::string>& metadata) {
  return Exporter(model, weights).run(metadata);
}

}  // namespace moil::onnx
