#include "engine/io/onnx/onnx_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <random>

#include "base/error.h"
#include "engine/io/onnx/onnx_writer.h"

namespace moil::onnx {
namespace {

namespace fs = std::filesystem;
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
}

// A folder for one test.
class OnnxFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("onnx-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "model");
    std::ofstream(folder_ / "secret") << std::string(64, 's');
    std::ofstream(folder_ / "model" / "weights.bin") << std::string(64, 'w');
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string refusal_with(const std::string& location, const std::string& length = "16") {
    std::ofstream(folder_ / "model" / "m.onnx", std::ios::binary)
        << with_tensor([&](pb::TensorProto& t) {
             t.clear_raw_data();
             t.clear_dims();
             t.add_dims(4);
             t.set_data_type(pb::TensorProto::FLOAT);
             t.set_data_location(pb::TensorProto::EXTERNAL);
             auto& l = *t.add_external_data();
             l.set_key("location");
             l.set_value(location);
             auto& n = *t.add_external_data();
             n.set_key("length");
             n.set_value(length);
           });
    try {
      (void)read_onnx(folder_ / "model" / "m.onnx");
    } catch (const Error& e) {
      return e.what();
    }
    return "read";
  }

  fs::path folder_;
};

TEST_F(OnnxFiles, ExternalDataLiesInTheModelsFolder) {
  EXPECT_EQ(refusal_with("weights.bin"), "read");
  EXPECT_THAT(refusal_with("../secret"), HasSubstr("not in the model's folder"));
  EXPECT_THAT(refusal_with((folder_ / "secret").string()), HasSubstr("not in the model's folder"));
  fs::create_symlink(folder_ / "secret", folder_ / "model" / "link");
  EXPECT_THAT(refusal_with("link"), HasSubstr("not in the model's folder"));
  EXPECT_THAT(refusal_with("nothing"), HasSubstr("not there"));
  EXPECT_THAT(refusal_with("weights.bin", "65"), HasSubstr("ends behind the end"));
  EXPECT_THAT(refusal_with("weights.bin", "8"), HasSubstr("elements"));
  EXPECT_THAT(refusal_with("weights.bin", "many"), HasSubstr("length"));
}

}  // namespace
}  // namespace moil::onnx
