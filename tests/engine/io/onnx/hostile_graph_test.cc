// Graphs that no exporter writes: each is one clear error that names the node, in little memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/process_memory.h"
#include "engine/io/onnx/folds/constant_folding.h"
#include "tests/engine/io/onnx/builder.h"

namespace moil::onnx {
namespace {

using Names = std::vector<std::string>;
using Attributes = std::map<std::string, Attribute>;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Graph graph_of(Ints input = {-1, 4, 8, 8}) {
  Graph graph;
  graph.name = "hostile";
  graph.opset = 13;
  graph.inputs = {{"x", std::move(input), true}};
  graph.constants["w"] = Tensor::of({4, 4, 3, 3}, std::vector<float>(144, 0.5F));
  return graph;
}

Tensor int_tensor(Ints values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return Tensor::of_ints({size}, std::move(values));
}

void add(Graph& graph, const std::string& output, const std::string& op, Names inputs,
         Attributes attributes = {}) {
  graph.nodes.push_back({output, op, "", std::move(inputs), {output}, std::move(attributes)});
  graph.outputs = {{output, {}, true}};
}

std::string refusal_of(const std::string& op, Names inputs, Attributes attributes) {
  Graph graph = graph_of();
  add(graph, "y", op, std::move(inputs), std::move(attributes));
  return refusal_of(graph);
}

// What the graph is refused with, which must name a node and take little memory.
std::string refusal_of_bomb(const Graph& graph) {
  reset_peak_memory();
  const std::size_t before = resident_memory().bytes;
  const std::string said = refusal_of(graph);
  EXPECT_LT(resident_memory().peak_bytes, before + (256U << 20));
  EXPECT_THAT(said, HasSubstr("node \""));
  return said;
}

TEST(HostileGraph, AbsurdConvolutions) {
  const Names inputs{"x", "w"};
  const auto refused = [&](const char* name, Attribute value) {
    const std::string said = refusal_of("Conv", inputs, {{name, std::move(value)}});
    EXPECT_THAT(said, AllOf(HasSubstr("node \"y\" (Conv)"), Not(HasSubstr("imported")))) << name;
  };
  for (const std::int64_t absurd : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31, kMost,
                                    std::numeric_limits<std::int64_t>::min()}) {
    refused("group", absurd);
    if (absurd < 1) refused("strides", Ints{absurd, 1});
    refused("dilations", Ints{absurd, absurd});
    if (absurd != 0) refused("pads", Ints{absurd, absurd, absurd, absurd});
  }
  refused("strides", Ints{kMost, kMost});
  refused("strides", Ints{1, 1, 1});
  refused("pads", Ints{1, 1});
  refused("pads", Ints(1000, 0));
  refused("auto_pad", std::string("SAME_SIDEWAYS"));
  EXPECT_THAT(refusal_of("Conv", inputs, {{"strides", 1.5}}), HasSubstr("of another type"));
}

TEST(HostileGraph, AbsurdPools) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    const auto refused = [&](Attributes attributes) {
      EXPECT_THAT(refusal_of(op, {"x"}, std::move(attributes)), HasSubstr("node \"y\""));
    };
    for (const std::int64_t absurd : {std::int64_t{0}, std::int64_t{1} << 31, kMost})
      refused({{"kernel_shape", Ints{absurd, absurd}}});
    refused({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{0, 1}}});
    refused({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{kMost, kMost}}});
    refused({{"kernel_shape", Ints{2, 2}}, {"pads", Ints{kMost, 0, 0, 0}}});
  }
}

TEST(HostileGraph, AbsurdPads) {
  for (const Ints& pads : {Ints{0, 0, kMost, 0, 0, 0, kMost, 0}, Ints{0, 0, -1, 0, 0, 0, 0, 0},
                           Ints{1, 0, 0, 0, 0, 0, 0, 0}, Ints{1}, Ints{}}) {
    Graph graph = graph_of();
    graph.constants["pads"] = int_tensor(pads);
    add(graph, "p", "Pad", {"x", "pads"});
    add(graph, "y", "Conv", {"p", "w"});
    EXPECT_THAT(refusal_of(graph), HasSubstr("node \"p\" (Pad)"));
  }
  Graph chain = graph_of();  // each allowed by itself
  chain.constants["pads"] = int_tensor({0, 0, 1 << 20, 1 << 20, 0, 0, 1 << 20, 1 << 20});
  std::string last = "x";
  for (int i = 0; i < 100; ++i)
    add(chain, "p" + std::to_string(i), "Pad", {last, "pads"}), last = "p" + std::to_string(i);
  add(chain, "y", "Conv", {last, "w"});
  EXPECT_THAT(refusal_of(chain), HasSubstr("2^40"));
}

TEST(HostileGraph, AbsurdInputs) {
  for (const Ints& dims :
       {Ints{-1, kMost, kMost, kMost}, Ints{1 << 30, 4, 1 << 20, 1 << 20}, Ints(100, 1)}) {
    Graph graph = graph_of(dims);
    add(graph, "y", "Relu", {"x"});
    EXPECT_THAT(refusal_of(graph), Not(HasSubstr("imported")));
  }
  Graph nameless = graph_of();
  nameless.inputs[0].name = "///";
  add(nameless, "y", "Relu", {"///"});
  EXPECT_THAT(refusal_of(nameless), HasSubstr("an input has no name"));
}

TEST(HostileGraph, NumbersThatAreNone) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [op, name] : std::map<std::string, std::string>{
           {"HardSigmoid", "alpha"}, {"Dropout", "ratio"}, {"Pad", "value"}})
    EXPECT_THAT(refusal_of(op, {"x"}, {{name, kNone}, {"pads", Ints{0, 0, 1, 0, 0, 0, 0, 0}}}),
                HasSubstr("not a finite number"))
        << op;
  for (const char* op : {"Elu", "Celu", "Selu"})
    for (const double absurd : {kNone, -1.0})
      EXPECT_THAT(refusal_of(op, {"x"}, {{"alpha", absurd}}), HasSubstr("node \"y\"")) << op;
  EXPECT_THAT(refusal_of("LeakyRelu", {"x"}, {{"alpha", std::numeric_limits<double>::infinity()}}),
              HasSubstr("not a finite number"));
}

TEST(HostileGraph, AbsurdSizes) {
  const auto refused = [](const char* op, Names inputs, Attributes attributes, Tensor given) {
    Graph graph = graph_of();
    graph.opset = op == std::string("Upsample") ? 9 : 13;
    graph.constants["given"] = std::move(given);
    add(graph, "y", op, std::move(inputs), std::move(attributes));
    EXPECT_THAT(refusal_of_bomb(graph), Not(HasSubstr("imported"))) << op;
  };
  const Names by_scales{"x", "", "given"}, by_sizes{"x", "", "", "given"};
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  constexpr float kEver = std::numeric_limits<float>::infinity();
  for (const float scale : {0.0F, -1.0F, kNone, kEver, 1e30F, 1e-30F, 0.01F, 1.3F}) {
    refused("Resize", by_scales, {}, Tensor::of({4}, {1, 1, scale, 1}));
    refused("Upsample", {"x", "given"}, {}, Tensor::of({4}, {1, 1, 1, scale}));
  }
  for (const Ints& sizes : {Ints{1, 4, 0, 8}, Ints{1, 4, -8, 8}, Ints{1, 4, kMost, kMost},
                            Ints{2, 4, 8, 8}, Ints{1, 5, 8, 8}, Ints{1, 4, 8}, Ints{}})
    refused("Resize", by_sizes, {}, int_tensor(sizes));
  refused("Resize", by_sizes, {}, Tensor::of({4}, {1, 4, 9, 9}));
  refused("Resize", by_scales, {}, int_tensor({1, 1, 2, 2}));
  refused("Resize", by_scales, {{"axes", Ints{9}}}, Tensor::of({1}, {2}));
  for (const char* name : {"mode", "coordinate_transformation_mode", "nearest_mode"})
    refused("Resize", by_sizes, {{name, std::string("cubic")}}, int_tensor({1, 4, 9, 9}));
  refused("Upsample", {"x"}, {{"scales", Ints{1, 1, 2, 2}}}, {});
}

TEST(HostileGraph, AbsurdNorms) {
  for (const std::int64_t absurd : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{2}, kMost})
    EXPECT_THAT(refusal_of("LRN", {"x"}, {{"size", absurd}}), HasSubstr("node \"y\""));
  for (const std::int64_t absurd : {std::int64_t{0}, std::int64_t{-4}, std::int64_t{3}, kMost}) {
    Graph graph = graph_of();
    graph.constants["c"] = Tensor::of({4}, std::vector<float>(4, 0.5F));
    add(graph, "y", "GroupNormalization", {"x", "c", "c"}, {{"num_groups", absurd}});
    EXPECT_THAT(refusal_of(graph), HasSubstr("node \"y\""));
  }
  Graph graph = graph_of();
  graph.constants["c"] = Tensor::of({3}, {1, 2, 3});
  add(graph, "y", "InstanceNormalization", {"x", "c", "c"});
  EXPECT_THAT(refusal_of(graph), HasSubstr("do not fit"));
  graph.constants["c"] = Tensor::of({4}, {1, 2, 3, 4});
  graph.nodes[0].attributes["epsilon"] = -1.0;
  EXPECT_THAT(refusal_of(graph), HasSubstr("epsilon"));
}

TEST(HostileGraph, AbsurdAttention) {
  const auto refused = [](const Ints& dims, Attributes attributes, Names more = {}) {
    Graph graph = graph_of(dims);
    graph.opset = 23;
    graph.constants["mask"] = Tensor::of({3, 7}, std::vector<float>(21, 0));
    Names inputs = {"x", "x", "x"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    add(graph, "y", "Attention", std::move(inputs), std::move(attributes));
    EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("node \"y\" (Attention)"));
  };
  const Ints rows = {-1, 5, 8};
  for (const std::int64_t absurd : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{3}, kMost,
                                    std::numeric_limits<std::int64_t>::min()})
    refused(rows, {{"q_num_heads", absurd}, {"kv_num_heads", absurd}});
  const Attributes heads = {{"q_num_heads", std::int64_t{2}}, {"kv_num_heads", std::int64_t{2}}};
  const auto with = [&](const char* name, const Attribute& value) {
    Attributes attributes = heads;
    attributes[name] = value;
    return attributes;
  };
  refused(rows, with("kv_num_heads", std::int64_t{1}));
  refused(rows, with("softcap", 1.0));
  refused(rows, with("scale", std::numeric_limits<double>::quiet_NaN()));
  refused(rows, heads, {"mask"});
  refused(rows, heads, {"", "x", "x"});
  refused({-1, 5}, heads);
  refused({-1, 5, 8, 2, 2}, heads);
  refused({-1, 1 << 20, 8}, with("is_causal", std::int64_t{1}));
}

TEST(HostileGraph, AbsurdQuantisation) {
  const auto refused = [](Tensor scale, Tensor zero, Attributes attributes) {
    Graph graph = graph_of();
    graph.constants["q"] = Tensor::of_ints({4, 4, 3, 3}, Ints(144, 1));
    graph.constants["scale"] = std::move(scale);
    graph.constants["zero"] = std::move(zero);
    add(graph, "d", "DequantizeLinear", {"q", "scale", "zero"}, std::move(attributes));
    add(graph, "y", "Conv", {"x", "d"});
    EXPECT_THAT(refusal_of(graph), HasSubstr("node \"d\" (DequantizeLinear)"));
  };
  const Tensor one = Tensor::of({}, {1}), none = Tensor::of_ints({}, {0});
  refused(Tensor::of({3}, {1, 2, 3}), int_tensor({0, 0, 0}), {});
  refused(Tensor::of({4}, {1, 2, 3, 4}), none, {});
  refused(Tensor::of({4}, {1, 2, 3, 4}), int_tensor({0, 0, 0, 0}), {{"axis", kMost}});
  refused(int_tensor({1}), none, {});
  refused(one, one, {});
  refused(one, none, {{"block_size", std::int64_t{2}}});
  refused(Tensor::of({0}, {}), int_tensor({}), {});
}

TEST(HostileGraph, AbsurdLines) {
  Graph graph = graph_of({-1, 4, 8});
  graph.constants["line"] = Tensor::of({4, 4, 3}, std::vector<float>(48, 0.5F));
  const auto refused = [&](Names inputs, Attributes attributes) {
    graph.nodes.clear();
    add(graph, "y", "Conv", std::move(inputs), std::move(attributes));
    EXPECT_THAT(refusal_of(graph), HasSubstr("node \"y\" (Conv)"));
  };
  refused({"x", "w"}, {});
  for (const char* name : {"strides", "dilations", "pads"})
    for (const Ints& absurd : {Ints{kMost}, Ints{-1}, Ints{1, 1, 1, 1}, Ints{}})
      refused({"x", "line"}, {{name, absurd}});
  graph.inputs[0].dims = {-1, 4, 8, 8};
  refused({"x", "line"}, {});
}

TEST(HostileGraph, NodesMayNotComputeWhatIsThere) {
  Graph graph = graph_of();
  add(graph, "x", "Relu", {"x"});
  EXPECT_THAT(refusal_of(graph), HasSubstr("which is an input or a constant"));
  graph = graph_of();
  add(graph, "w", "Relu", {"x"});
  EXPECT_THAT(refusal_of(graph), HasSubstr("which is an input or a constant"));
}

TEST(HostileGraph, DeepChainsAreImported) {
  Graph graph = graph_of();
  std::string last = "x";
  for (int i = 0; i < 20'000; ++i) {
    graph.nodes.push_back({"same", "Relu", "", {last}, {"v" + std::to_string(i)}, {}});
    last = "v" + std::to_string(i);
  }
  graph.outputs = {{last, {}, true}};
  EXPECT_EQ(refusal_of(graph), "imported");
}

TEST(HostileGraph, OneConstantOfAnySize) {
  for (const Ints& shape : {Ints{std::int64_t{1} << 40}, Ints{1 << 20, 1 << 20}, Ints{kMost, kMost},
                            Ints{0, kMost, kMost}, Ints(100, 1), Ints{-1}}) {
    Graph graph = graph_of();
    graph.constants["shape"] = int_tensor(shape);
    add(graph, "big", "ConstantOfShape", {"shape"});
    EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("node \"big\" (ConstantOfShape)"));
  }
}

TEST(HostileGraph, ConstantsThatDouble) {
  Graph graph = graph_of();
  graph.constants["v0"] = int_tensor(Ints(1024, 1));
  for (int i = 0; i < 40; ++i) {
    const std::string from = "v" + std::to_string(i);
    add(graph, "v" + std::to_string(i + 1), "Concat", {from, from}, {{"axis", std::int64_t{0}}});
  }
  EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("(Concat)"));
}

TEST(HostileGraph, ConstantsThatSpread) {
  Graph graph = graph_of();
  graph.constants["row"] = Tensor::of({1, 4096}, std::vector<float>(4096, 1));
  graph.constants["column"] = Tensor::of({4096, 1}, std::vector<float>(4096, 1));
  add(graph, "y", "Add", {"row", "column"});
  EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("node \"y\" (Add)"));
  graph.nodes.clear();
  graph.constants["indices"] = int_tensor(Ints(4096, 0));
  add(graph, "y", "Gather", {"row", "indices"});
  EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("node \"y\" (Gather)"));
}

// None of them grows, but all are kept.
TEST(HostileGraph, ManyCopiesOfAConstant) {
  Graph graph = graph_of();
  graph.constants["v0"] = Tensor::of({1 << 20}, std::vector<float>(1 << 20, 1));
  for (int i = 0; i < 1000; ++i)
    add(graph, "v" + std::to_string(i + 1), "Identity", {"v" + std::to_string(i)});
  EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("far more memory than the file"));
}

// Weights that a few numbers of the file would become again and again.
TEST(HostileGraph, ConstantsOfManyLayers) {
  static constexpr std::int64_t kMany = 1 << 16;
  const auto refused = [](const Ints& input, const Ints& dims, const char* op, Names inputs) {
    Graph graph = graph_of(input);
    graph.constants["c"] = Tensor::of(dims, std::vector<float>(kMany, 1));
    graph.constants["kernel"] = Tensor::of({kMany, 1, 1, 1}, std::vector<float>(kMany, 1));
    std::string last = "x";
    for (int i = 0; i < 1000; ++i) {
      Names all{last};
      all.insert(all.end(), inputs.begin(), inputs.end());
      last = "y" + std::to_string(i);
      Attributes attributes;
      if (std::string(op) == "Conv") attributes["group"] = std::int64_t{kMany};
      add(graph, last, op, all, attributes);
    }
    EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("far more memory than the file")) << op;
  };
  for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
    refused({-1, kMany, 1, 1}, {1, kMany, 1, 1}, op, {"c"});  // of channels
    refused({-1, 2, kMany}, {kMany}, op, {"c"});              // of rows
  }
  refused({-1, 2, kMany}, {kMany}, "LayerNormalization", {"c"});
  refused({-1, kMany, 1, 1}, {kMany, 1, 1}, "PRelu", {"c"});
  refused({-1, kMany, 1, 1}, {kMany}, "Conv", {"kernel"});
}

// One number is one number, however many elements it meets.
TEST(HostileGraph, NumbersDoNotSpread) {
  Graph graph = graph_of({-1, 1 << 24, 1, 1});
  graph.constants["one"] = Tensor::of({}, {1});
  add(graph, "y", "Add", {"x", "one"});
  reset_peak_memory();
  const std::size_t before = resident_memory().bytes;
  EXPECT_EQ(refusal_of(graph), "imported");
  EXPECT_LT(resident_memory().peak_bytes, before + (32U << 20));
}

TEST(HostileGraph, ConstantsThatExpand) {
  Graph graph = graph_of();
  graph.constants["one"] = Tensor::of({1, 1}, {1});
  for (const Ints& shape :
       {Ints{1 << 20, 1 << 20}, Ints{kMost, kMost}, Ints{kMost, 0}, Ints(100, 2), Ints{-1, 3}}) {
    graph.constants["shape"] = int_tensor(shape);
    graph.nodes.clear();
    add(graph, "y", "Expand", {"one", "shape"});
    EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("node \"y\" (Expand)"));
  }
  graph.constants["row"] = int_tensor(Ints(4096, 1));
  graph.constants["column"] = Tensor::of_ints({4096, 1}, Ints(4096, 1));
  graph.nodes.clear();
  graph.constants["floats"] = Tensor::of({4096, 1}, std::vector<float>(4096, 1));
  add(graph, "y", "Where", {"row", "one", "floats"});
  EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("node \"y\" (Where)"));
  graph.nodes.clear();
  add(graph, "y", "Equal", {"row", "column"});
  EXPECT_THAT(refusal_of_bomb(graph), HasSubstr("node \"y\" (Equal)"));
}

TEST(HostileGraph, AbsurdAxes) {
  const auto refused = [](const char* op, const Attributes& attributes) {
    EXPECT_THAT(refusal_of(op, {"x"}, attributes), HasSubstr("node \"y\"")) << op;
  };
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t axis : {kLeast, std::int64_t{-5}, std::int64_t{4}, kMost}) {
    for (const char* op : {"Softmax", "LogSoftmax", "Split"}) refused(op, {{"axis", axis}});
    for (const char* op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "Squeeze"})
      refused(op, {{"axes", Ints{axis}}});
    refused("Slice", {{"axes", Ints{axis}}, {"starts", Ints{0}}, {"ends", Ints{1}}});
    refused("Transpose", {{"perm", Ints{0, 1, 2, axis}}});
  }
  refused("Unsqueeze", {{"axes", Ints{kMost}}});
  refused("Unsqueeze", {{"axes", Ints(1000, 0)}});
  refused("Unsqueeze", {{"axes", Ints{0, 0}}});
  refused("Transpose", {{"perm", Ints{0, 1, 1, 2}}});
  refused("Transpose", {{"perm", Ints{0, 1, 1, 1}}});
  refused("Slice", {{"axes", Ints{2, 2}}, {"starts", Ints{1, 1}}, {"ends", Ints{3, 3}}});
  refused("Slice", {{"starts", Ints{kMost}}, {"ends", Ints{kLeast}}});
  refused("Slice", {{"axes", Ints{1}}, {"starts", Ints{kLeast}}, {"ends", Ints{kLeast}}});
  refused("Split", {{"axis", std::int64_t{1}}, {"split", Ints{kMost, kMost}}});
  refused("Split", {{"axis", std::int64_t{1}}, {"split", Ints{kLeast}}});
}

// Each factor of a product may be a product: no more of them are looked through than two make.
TEST(HostileGraph, ProductsOfManyFactors) {
  Graph graph = graph_of();
  graph.constants["half"] = Tensor::of({}, {0.5F});
  std::string last = "x";
  for (int i = 0; i < 6; ++i) {
    Names inputs(10'000, last);
    inputs[0] = "half";
    add(graph, last = "y" + std::to_string(i), "Mul", inputs);
  }
  EXPECT_THAT(refusal_of(graph), HasSubstr("it has not two inputs"));
}

}  // namespace
}  // namespace moil::onnx
