#include "engine/io/onnx/onnx_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <functional>
#include <random>

#include "base/error.h"
#include "engine/io/onnx/onnx_writer.h"

namespace moil::onnx {
namespace {

namespace pb = ::onnx;
using ::testing::HasSubstr;

Graph small_graph() {
  Graph graph;
  graph.name = "small";
  graph.opset = 14;
  graph.inputs = {{"x", {-1, 3, 4, 4}, true}};
  graph.outputs = {{"y", {-1, 2}, true}};
  graph.nodes = {{"n", "Relu", "", {"x"}, {"y"}, {{"axis", std::int64_t{1}}, {"alpha", 0.5}}}};
  graph.constants["w"] = Tensor::of({2, 2}, {1, 2, 3, 4});
  graph.constants["i"] = Tensor::of_ints({2}, {5, -6});
  graph.metadata = {{"key", "value"}};
  return graph;
}

std::string refusal(const std::string& bytes) {
  try {
    (void)parse_onnx(bytes);
  } catch (const Error& e) {
    return e.what();
  }
  return "read";
}

TEST(OnnxReader, ReadsWhatWasWritten) {
  const Graph graph = parse_onnx(format_onnx(small_graph()));
  EXPECT_EQ(graph.opset, 14);
  EXPECT_EQ(graph.inputs.at(0).dims, (std::vector<std::int64_t>{-1, 3, 4, 4}));
  EXPECT_EQ(graph.nodes.at(0).integer("axis", 0), 1);
  EXPECT_EQ(graph.nodes.at(0).number("alpha", 0), 0.5);
  EXPECT_EQ(graph.constants.at("w").floats, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(graph.constants.at("i").ints, (std::vector<std::int64_t>{5, -6}));
  EXPECT_EQ(graph.metadata.at("key"), "value");
  EXPECT_EQ(format_onnx(graph), format_onnx(small_graph()));
}

// Every prefix, and thousands of damaged copies: an error or a graph, never more.
TEST(OnnxReader, DamagedFilesAreErrors) {
  const std::string bytes = format_onnx(small_graph());
  EXPECT_THAT(refusal(""), HasSubstr("not an ONNX model"));
  EXPECT_THAT(refusal("not protobuf at all"), HasSubstr("not an ONNX model"));
  for (std::size_t size = 0; size < bytes.size(); ++size) (void)refusal(bytes.substr(0, size));
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = bytes;
    for (unsigned k = 0; k <= random() % 4; ++k)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    (void)refusal(damaged);
  }
}

std::string with_tensor(const std::function<void(pb::TensorProto&)>& change) {
  pb::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(format_onnx(small_graph())));
  change(*model.mutable_graph()->mutable_initializer(0));
  return model.SerializeAsString();
}

TEST(OnnxReader, SizesMustAgree) {
  EXPECT_THAT(refusal(with_tensor([](auto& t) { t.set_dims(0, 3); })), HasSubstr("elements"));
  EXPECT_THAT(refusal(with_tensor([](auto& t) { t.set_dims(0, -2); })), HasSubstr("negative"));
  EXPECT_THAT(refusal(with_tensor([](auto& t) {
                t.clear_dims();
                for (int i = 0; i < 8; ++i) t.add_dims(std::int64_t{1} << 40);
              })),
              HasSubstr("more elements"));
  EXPECT_THAT(refusal(with_tensor([](auto& t) { t.set_data_type(pb::TensorProto::STRING); })),
              HasSubstr("element type"));
  EXPECT_THAT(refusal(with_tensor([](auto& t) { t.mutable_raw_data()->pop_back(); })),
              HasSubstr("elements"));
}

// Memory is taken for what is there, not for what is claimed.
TEST(OnnxReader, ClaimsAreHeldAgainstTheContent) {
  const auto claiming = [](std::vector<std::int64_t> dims) {
    return refusal(
        with_tensor([&](auto& t) { t.mutable_dims()->Assign(dims.begin(), dims.end()); }));
  };
  EXPECT_THAT(claiming({std::int64_t{1} << 60}), HasSubstr("more elements"));
  EXPECT_THAT(claiming({INT64_MAX, INT64_MAX}), HasSubstr("more elements"));
  EXPECT_THAT(claiming({0, std::int64_t{1} << 62, std::int64_t{1} << 62}),
              HasSubstr("more elements"));
  EXPECT_THAT(claiming({INT64_MIN}), HasSubstr("negative"));
  EXPECT_THAT(claiming({(std::int64_t{1} << 31) - 1}), HasSubstr("holds 2 of 2147483647"));
  EXPECT_THAT(claiming(std::vector<std::int64_t>(1000, 1)), HasSubstr("1000 dimensions"));
  EXPECT_THAT(refusal(with_tensor([](auto& t) {
                t.clear_raw_data();
                t.add_float_data(1);  // of another type than it says
              })),
              HasSubstr("holds 0 of 2"));
}

std::string with_graph(const std::function<void(pb::GraphProto&)>& change) {
  pb::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(format_onnx(small_graph())));
  change(*model.mutable_graph());
  return model.SerializeAsString();
}

TEST(OnnxReader, NamesAreUniqueText) {
  EXPECT_THAT(refusal(with_graph([](auto& g) { *g.add_initializer() = g.initializer(0); })),
              HasSubstr("two tensors are named \"i\""));
  EXPECT_THAT(refusal(with_graph([](auto& g) { g.mutable_node(0)->set_name("\xff"); })),
              HasSubstr("UTF-8"));
  EXPECT_THAT(refusal(with_graph([](auto& g) { g.mutable_node(0)->set_input(0, "\xc0\x80"); })),
              HasSubstr("UTF-8"));
  EXPECT_EQ(refusal(with_graph([](auto& g) { g.mutable_node(0)->set_name("größe"); })), "read");
}

// Graphs within graphs: refused where they begin, and too deep for protobuf.
TEST(OnnxReader, SubgraphsAreRefused) {
  const auto nested = [](int depth) {
    return with_graph([&](pb::GraphProto& outer) {
      pb::GraphProto* graph = &outer;
      for (int i = 0; i < depth; ++i) {
        auto& branch = *graph->add_node()->add_attribute();
        branch.set_name("then_branch");
        branch.set_type(pb::AttributeProto::GRAPH);
        graph = branch.mutable_g();
      }
    });
  };
  EXPECT_THAT(refusal(nested(1)), HasSubstr("subgraphs are not supported"));
  EXPECT_THAT(refusal(nested(30)), HasSubstr("subgraphs are not supported"));
  EXPECT_THAT(refusal(nested(2000)), HasSubstr("not an ONNX model"));
}

TEST(OnnxReader, ManyNodesAreRefused) {
  const auto nodes = [](int count) {
    return with_graph([&](pb::GraphProto& g) {
      while (g.node_size() < count) g.add_node();
    });
  };
  EXPECT_THAT(refusal(nodes(kMaxNodes + 1)), HasSubstr("at most 100000"));
}

}  // namespace
}  // namespace moil::onnx
