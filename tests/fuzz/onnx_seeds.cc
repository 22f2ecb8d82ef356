// What the ONNX fuzzer begins with: small networks that touch every operator.
#include "tests/fuzz/onnx_seeds.h"

#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/onnx/onnx_writer.h"
#include "engine/model/graph.h"
#include "engine/model/initial_weights.h"

namespace moil::test {
namespace {

using onnx::Attribute;
using onnx::Tensor;
using Ints = std::vector<std::int64_t>;
using Names = std::vector<std::string>;
using Attributes = std::map<std::string, Attribute>;

class Sketch {
 public:
  explicit Sketch(Ints input = {-1, 4, 8, 8}) {
    graph_.name = "seed";
    graph_.opset = 13;
    graph_.inputs = {{"image", std::move(input), true}};
  }
  // A node of `inputs`; its output's name, which is `last` then.
  std::string node(const std::string& op, Names inputs, Attributes attributes = {}) {
    last = "v" + std::to_string(graph_.nodes.size());
    graph_.nodes.push_back({last, op, "", std::move(inputs), {last}, std::move(attributes)});
    return last;
  }
  std::string then(const std::string& op, const Names& more = {}, Attributes attributes = {}) {
    Names inputs{last};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return node(op, std::move(inputs), std::move(attributes));
  }
  std::string floats(Ints dims, float value = 0.25F) {
    std::int64_t count = 1;
    for (const std::int64_t d : dims) count *= d;
    return constant(
        Tensor::of(std::move(dims), std::vector<float>(static_cast<std::size_t>(count), value)));
  }
  std::string ints(Ints values) {
    const auto size = static_cast<std::int64_t>(values.size());
    return constant(Tensor::of_ints({size}, std::move(values)));
  }
  std::string index(std::int64_t value) { return constant(Tensor::of_ints({}, {value})); }
  // The parts of `last` along an axis.
  Names split(Ints sizes, std::int64_t axis) {
    Names parts;
    for (std::size_t i = 0; i < sizes.size(); ++i) parts.push_back("part" + std::to_string(i));
    Attributes attributes = {{"axis", axis}};
    Names inputs = {last, ints(std::move(sizes))};
    graph_.nodes.push_back({"split", "Split", "", std::move(inputs), parts, std::move(attributes)});
    return parts;
  }
  std::string bytes() {
    graph_.outputs = {{last, {}, true}};
    return onnx::format_onnx(graph_);
  }

  std::string last = "image";

 private:
  std::string constant(Tensor tensor) {
    const std::string name = "c" + std::to_string(graph_.constants.size());
    graph_.constants[name] = std::move(tensor);
    return name;
  }

  onnx::Graph graph_;
};

std::string convolutions() {
  Sketch s;
  s.then("Conv", {s.floats({4, 4, 3, 3}), s.floats({4})}, {{"pads", Ints{1, 1, 1, 1}}});
  s.then("BatchNormalization", {s.floats({4}), s.floats({4}), s.floats({4}), s.floats({4})},
         {{"epsilon", 1e-5}, {"momentum", 0.9}});
  s.then("Relu");
  s.then("Pad", {s.ints({0, 0, 0, 0, 0, 0, 1, 1})}, {{"mode", std::string("constant")}});
  s.then("Conv", {s.floats({4, 1, 3, 3})},
         {{"group", std::int64_t{4}}, {"strides", Ints{2, 2}}, {"dilations", Ints{1, 1}}});
  s.then("Conv", {s.floats({6, 4, 3, 3})}, {{"auto_pad", std::string("SAME_UPPER")}});
  s.then("MaxPool", {}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  s.then("AveragePool", {},
         {{"kernel_shape", Ints{2, 2}},
          {"ceil_mode", std::int64_t{1}},
          {"count_include_pad", std::int64_t{1}}});
  s.then("GlobalAveragePool");
  s.then("Flatten", {}, {{"axis", std::int64_t{1}}});
  s.then("Gemm", {s.floats({5, 6}), s.floats({5})}, {{"transB", std::int64_t{1}}});
  return s.bytes();
}

std::string activations() {
  Sketch s;
  for (const char* op : {"Tanh", "HardSwish", "Identity", "LeakyRelu", "Dropout", "Gelu"})
    s.then(op);
  const std::string x = s.last;
  s.node("Sigmoid", {x});
  const std::string silu = s.node("Mul", {x, s.last});
  s.then("HardSigmoid", {}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
  s.node("Mul", {silu, s.last});
  const std::string y = s.then("Cast", {}, {{"to", std::int64_t{1}}});
  s.then("Add", {s.floats({}, 3)});
  s.then("Clip", {s.floats({}, 0), s.floats({}, 6)});
  s.node("Mul", {y, s.last});
  s.then("Div", {s.floats({}, 6)});
  s.then("Sub", {s.floats({1, 4, 1, 1})});
  s.node("Add", {s.last, y});
  s.node("Concat", {s.last, y}, {{"axis", std::int64_t{1}}});
  s.then("ReduceMean", {}, {{"axes", Ints{2, 3}}, {"keepdims", std::int64_t{0}}});
  s.then("MatMul", {s.floats({8, 3})});
  s.then("Add", {s.floats({3})});
  s.then("Softmax", {}, {{"axis", std::int64_t{1}}});
  return s.bytes();
}

// A shape as exporters compute it.
std::string shapes() {
  Sketch s;
  s.then("Shape");
  s.then("Gather", {s.ints({0})});
  const std::string batch = s.then("Slice", {s.ints({0}), s.ints({9}), s.ints({0}), s.ints({1})});
  s.node("ConstantOfShape", {s.ints({2})}, {{"value", Tensor::of_ints({1}, {-1})}});
  s.then("Slice", {s.ints({0}), s.ints({1})});
  const std::string rest = s.then("Cast", {}, {{"to", std::int64_t{7}}});
  const std::string shape = s.node("Concat", {batch, rest}, {{"axis", std::int64_t{0}}});
  s.node("Reshape", {"image", shape});
  const std::string x = s.last;
  s.node("Transpose", {s.floats({2, 256})}, {{"perm", Ints{1, 0}}});
  s.then("Unsqueeze", {s.ints({0})});
  s.then("Squeeze", {s.ints({0})});
  s.then("Mul", {s.floats({2}, 2)});
  s.then("Sqrt");
  const std::string w = s.then("Neg");
  s.node("MatMul", {x, w});
  return s.bytes();
}

std::string channels_last() {
  Sketch s({-1, 8, 8, 3});
  s.then("Transpose", {}, {{"perm", Ints{0, 3, 1, 2}}});
  s.then("Conv", {s.floats({2, 3, 1, 1})});
  const std::string x = s.last;
  s.then("GlobalAveragePool");
  s.then("Sigmoid");
  s.node("Mul", {x, s.last});
  s.then("GlobalAveragePool");
  s.then("Squeeze", {s.ints({2, 3})});
  return s.bytes();
}

// A block of a transformer, with attention in the nodes that exporters write.
std::string transformer() {
  Sketch s({-1, 3, 4, 4});
  s.then("Conv", {s.floats({4, 3, 2, 2})}, {{"strides", Ints{2, 2}}});
  s.then("Reshape", {s.ints({0, 4, -1})});
  s.then("Transpose", {}, {{"perm", Ints{0, 2, 1}}});
  const std::string patches = s.last;
  const std::string token = s.node("Expand", {s.floats({1, 1, 4}), s.ints({1, 1, 4})});
  s.node("Concat", {token, patches}, {{"axis", std::int64_t{1}}});
  const std::string x = s.then("Add", {s.floats({1, 5, 4})});
  s.then("LayerNormalization", {s.floats({4}), s.floats({4})},
         {{"axis", std::int64_t{-1}}, {"epsilon", 1e-6}});
  s.then("MatMul", {s.floats({4, 12})});
  s.then("Add", {s.floats({12})});
  s.then("Reshape", {s.ints({0, 5, 3, 2, 2})});
  const std::string all = s.then("Transpose", {}, {{"perm", Ints{2, 0, 3, 1, 4}}});
  const std::string q = s.then("Gather", {s.index(0)}, {{"axis", std::int64_t{0}}});
  s.node("Gather", {all, s.index(1)}, {{"axis", std::int64_t{0}}});
  const std::string k = s.then("Transpose", {}, {{"perm", Ints{0, 1, 3, 2}}});
  const std::string v = s.node("Gather", {all, s.index(2)}, {{"axis", std::int64_t{0}}});
  s.node("MatMul", {q, k});
  s.then("Mul", {s.floats({}, 0.5F)});
  s.then("Softmax", {}, {{"axis", std::int64_t{-1}}});
  s.then("MatMul", {v});
  s.then("Transpose", {}, {{"perm", Ints{0, 2, 1, 3}}});
  s.then("Reshape", {s.ints({0, 5, 4})});
  s.node("Add", {x, s.last});
  s.then("Gather", {s.index(0)}, {{"axis", std::int64_t{1}}});
  s.then("Gemm", {s.floats({3, 4}), s.floats({3})}, {{"transB", std::int64_t{1}}});
  s.then("LogSoftmax", {}, {{"axis", std::int64_t{-1}}});
  return s.bytes();
}

// Layer normalisation and GELU in the nodes that older exporters write.
std::string chains() {
  Sketch s({-1, 4, 6});
  const std::string x = s.last;
  s.then("ReduceMean", {}, {{"axes", Ints{-1}}});
  const std::string centred = s.node("Sub", {x, s.last});
  s.then("Pow", {s.floats({}, 2)});
  s.then("ReduceMean", {}, {{"axes", Ints{-1}}});
  s.then("Add", {s.floats({}, 1e-5F)});
  s.then("Sqrt");
  s.node("Div", {centred, s.last});
  s.then("Mul", {s.floats({6})});
  const std::string y = s.then("Add", {s.floats({6})});
  s.then("Div", {s.floats({}, 1.41421356F)});
  s.then("Erf");
  s.then("Add", {s.floats({}, 1)});
  s.node("Mul", {y, s.last});
  s.then("Mul", {s.floats({}, 0.5F)});
  s.then("ReduceMean", {}, {{"axes", Ints{1}}, {"keepdims", std::int64_t{0}}});
  return s.bytes();
}

std::string odd_operators() {
  Sketch s;
  s.then("PRelu", {s.floats({4, 1, 1})});
  s.then("Pad", {s.ints({0, 0, 1, 0, 0, 0, 0, 1}), s.floats({}, 0.5F)});
  s.then("Slice", {s.ints({1}), s.ints({-1}), s.ints({2}), s.ints({2})});
  const std::string x = s.then("HardSigmoid", {}, {{"alpha", 0.2}, {"beta", 0.5}});
  s.then("Clip", {s.floats({}, -0.5F), s.floats({}, 0.75F)});
  s.then("Reciprocal");
  s.node("Sub", {x, s.last});
  s.node("Div", {s.last, x});
  s.then("Pow", {s.floats({}, 2)});
  s.then("Neg");
  s.then("ReduceMean", {}, {{"axes", Ints{3}}, {"keepdims", std::int64_t{1}}});
  s.then("Squeeze", {s.ints({3})});
  s.then("Unsqueeze", {s.ints({2})});
  s.then("Gather", {s.ints({0, 2})}, {{"axis", std::int64_t{1}}});
  s.node("Concat", s.split({1, 3}, 3), {{"axis", std::int64_t{3}}});
  const std::string y = s.then("Transpose", {}, {{"perm", Ints{0, 2, 3, 1}}});
  const std::string mask = s.node("Equal", {s.ints({1, 2}), s.ints({1, 1})});
  const std::string row = s.node("Where", {mask, s.floats({2}), s.floats({1})});
  s.node("Mul", {y, row});
  return s.bytes();
}

// Layers that are read back of what an export writes of them.
std::string written_layers() {
  ModelDescription model;
  model.name = "seed";
  model.inputs = {{"image", {5, 4}}};
  model.layers = {{"positions", "positional_encoding", {"image"}, {{"scale", 2.0}}},
                  {"line",
                   "conv1d",
                   {"positions"},
                   {{"out_channels", std::int64_t{4}}, {"kernel", std::int64_t{2}}}},
                  {"attention",
                   "multi_head_attention",
                   {"line", "positions"},
                   {{"heads", std::int64_t{2}}, {"causal", true}}}};
  model.outputs = {"attention"};
  const moil::Graph graph = build_graph(model, 1);
  return onnx::format_onnx(onnx::export_onnx(model, initial_weights(graph, 1)));
}

}  // namespace

std::map<std::string, std::string> onnx_seeds() {
  return {
      {"convolutions", convolutions()},   {"activations", activations()},      {"shapes", shapes()},
      {"channels-last", channels_last()}, {"transformer", transformer()},      {"chains", chains()},
      {"odd-operators", odd_operators()}, {"written-layers", written_layers()}};
}

}  // namespace moil::test
