// Operators of images and lines, quantised networks and several outputs: what layers they become,
// in and out. What they compute: tests/parity/layer_cases.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/io/onnx/exported.h"

namespace moil::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Types fixed_types_of(Builder& b) { return types_of_fixed(b.import()); }

Tensor bytes_of(Ints dims, Ints values, bool is_signed) {
  Tensor tensor = Tensor::of_ints(std::move(dims), std::move(values));
  tensor.is_signed = is_signed;
  return tensor;
}

TEST(LayerImport, ActivationsComeBack) {
  Builder b;
  b.graph.opset = 20;
  b.add("Elu");
  b.add("Elu", {}, {{"alpha", 0.5}});
  b.add("Softplus");
  b.add("Mish");
  b.add("Gelu", {}, {{"approximate", std::string("tanh")}});
  b.add("Selu");
  b.add("Celu", {}, {{"alpha", 2.0}});
  EXPECT_EQ(fixed_types_of(b), (Types{"elu", "elu", "softplus", "mish", "gelu_tanh", "elu", "scale",
                                      "scale", "elu", "scale"}));
}

TEST(LayerImport, ImagesOfAnotherSizeComeBack) {
  for (const char* mode : {"nearest", "linear"}) {
    for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners"}) {
      Builder b;
      b.ints("sizes", {1, 3, 16, 4});
      b.add_of("Resize", {"image", "", "", "sizes"},
               {{"mode", std::string(mode)},
                {"coordinate_transformation_mode", std::string(coordinates)}});
      b.add("LRN", {}, {{"size", std::int64_t{3}}, {"alpha", 0.5}});
      EXPECT_EQ(fixed_types_of(b), (Types{"resize", "local_response_norm"}));
    }
  }
}

TEST(LayerImport, NormsOfEachSampleComeBack) {
  Builder b;
  b.graph.opset = 21;
  b.floats("gamma.weight", {3}, 0.3F), b.floats("beta", {3}, 0.1F);
  b.add("InstanceNormalization", {"gamma.weight", "beta"});
  b.add("GroupNormalization", {"gamma.weight", "beta"}, {{"num_groups", std::int64_t{3}}});
  EXPECT_EQ(fixed_types_of(b), (Types{"reshape", "layer_norm", "reshape", "reshape", "conv2d",
                                      "reshape", "layer_norm", "reshape", "reshape", "conv2d"}));
}

// A chain of convolutions goes from rows to a line and back once.
TEST(LayerImport, LinesStayLines) {
  Builder b;
  b.graph.inputs = {{"image", {-1, 4, 9}, true}};
  for (const char* name : {"a", "b"}) {
    b.add("Conv", {b.floats(std::string(name) + ".weight", {4, 4, 3})});
    b.add("Relu");
    b.add("MaxPool", {}, {{"kernel_shape", Ints{2}}});
  }
  b.add("ReduceMax", {}, {{"axes", Ints{2}}, {"keepdims", std::int64_t{0}}});
  EXPECT_EQ(fixed_types_of(b), (Types{"reshape", "reshape", "conv2d", "relu", "max_pool", "conv2d",
                                      "relu", "max_pool", "max_pool", "flatten"}));
  const LayerDescription first = b.import().description.layers[2];
  EXPECT_EQ(std::get<Ints>(first.properties.at("kernel")), (Ints{1, 3}));
}

// If rows have their features last, as a recurrent network has them, nothing moves.
TEST(LayerImport, TurnedRowsAreALine) {
  Builder b;
  b.graph.inputs = {{"image", {-1, 9, 4}, true}};
  b.add("Transpose", {}, {{"perm", Ints{0, 2, 1}}});
  b.add("Conv", {b.floats("a.weight", {4, 4, 3})});
  b.add("Transpose", {}, {{"perm", Ints{0, 2, 1}}});
  EXPECT_EQ(b.types(), (Types{"reshape", "permute", "conv2d", "permute", "reshape"}));
}

TEST(LayerImport, PreprocessingInside) {
  Builder b;
  b.graph.inputs = {{"image", {-1, 8, 8, 3}, false, false, true, true}};
  b.add("Cast", {}, {{"to", std::int64_t{1}}});
  b.add("Sub", {b.floats("mean", {3}, 127)});
  b.add("Transpose", {}, {{"perm", Ints{0, 3, 1, 2}}});
  b.add("Conv", {b.floats("a.weight", {4, 3, 3, 3})});
  const ImportedModel model = b.import();
  EXPECT_EQ(types_of(model), (Types{"conv2d", "conv2d"}));
  EXPECT_EQ(model.description.inputs[0].dims, (Ints{3, 8, 8}));
  EXPECT_EQ(model.description.inputs[0].type, moil::ElementType::kFloat32);
  EXPECT_TRUE(model.takes_bytes);
  EXPECT_THAT(model.remarks, ElementsAre(HasSubstr("whole numbers")));
}

TEST(LayerImport, WholeNumbersThatAreNoFloatsStay) {
  Builder b;
  b.graph.inputs = {{"image", {-1, 5}, false, true}};
  b.add_of("Gather", {b.floats("words.weight", {7, 3}), "image"});
  EXPECT_EQ(b.types(), (Types{"embedding"}));
  b.add_of("Cast", {"image"}, {{"to", std::int64_t{1}}});
  EXPECT_THAT(b.refusal(), HasSubstr("integers that become floats"));
}

TEST(LayerImport, OneOfSeveralOutputs) {
  Builder b;
  const std::string first = b.add("Relu"), second = b.add("Sigmoid");
  b.graph.outputs = {{first, {}, true}, {second, {}, true}};
  const auto named = [](const std::string& output) {
    ImportOptions options;
    options.output = output;
    options.output_name = "--output";
    return options;
  };
  const std::string said = refusal_of(b.graph, named(""));
  EXPECT_EQ(said,
            "its outputs are \"" + first + "\", \"" + second + "\"; say which one with --output");
  EXPECT_THAT(refusal_of(b.graph, named("logits")), HasSubstr("\"logits\"; its outputs are"));
  EXPECT_EQ(types_of(import_onnx(b.graph, named(first))), (Types{"relu"}));
  EXPECT_EQ(types_of(import_onnx(b.graph, named(second))), (Types{"relu", "sigmoid"}));
}

// A network as a quantiser writes it; `zero` of the activation behind the convolution.
Builder quantised(std::int64_t zero, bool is_signed) {
  Builder b;
  b.graph.constants["a.weight_quantized"] = bytes_of({4, 3, 1, 1}, Ints(12, 3), true);
  b.graph.constants["zero"] = bytes_of({}, {zero}, is_signed);
  b.graph.constants["scale"] = Tensor::of({}, {0.5F});
  b.graph.constants["scales"] = Tensor::of({4}, {1, 2, 3, 4});
  b.graph.constants["zeros"] = bytes_of({4}, {0, 1, 2, 3}, true);
  const std::string weight = b.add_of("DequantizeLinear", {"a.weight_quantized", "scales", "zeros"},
                                      {{"axis", std::int64_t{0}}});
  b.add_of("Conv", {"image", weight});
  b.add("QuantizeLinear", {"scale", "zero"});
  b.add("DequantizeLinear", {"scale", "zero"});
  b.add("MaxPool", {}, {{"kernel_shape", Ints{2, 2}}});
  return b;
}

TEST(LayerImport, QuantisedNetworksAreTheFloatsThatTheyStandFor) {
  const ImportedModel model = quantised(0, true).import();
  EXPECT_EQ(types_of(model), (Types{"conv2d", "max_pool"}));
  EXPECT_EQ(model.description.layers[0].name, "a");
  const std::vector<float> weight = model.weights.at("a.weight").data;
  EXPECT_EQ(weight, (std::vector<float>{3, 3, 3, 4, 4, 4, 3, 3, 3, 0, 0, 0}));
  EXPECT_THAT(model.remarks, ElementsAre(HasSubstr("1 roundings")));
}

// The least number of the type is zero: what is below it is cut off, as a ReLU would.
TEST(LayerImport, ARoundingThatIsARelu) {
  EXPECT_EQ(quantised(0, false).types(), (Types{"conv2d", "relu", "max_pool"}));
  EXPECT_EQ(quantised(-128, true).types(), (Types{"conv2d", "relu", "max_pool"}));
  EXPECT_EQ(quantised(128, false).types(), (Types{"conv2d", "max_pool"}));
}

TEST(LayerImport, OldOpsets) {
  Builder b;
  b.graph.opset = 7;
  b.add("Upsample", {}, {{"scales", std::vector<double>{1, 1, 2, 3}}});
  EXPECT_EQ(fixed_types_of(b), (Types{"resize"}));
}

}  // namespace
}  // namespace moil::onnx
