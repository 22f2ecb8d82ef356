// The model descriptions that ship with the package (config/models, from scripts/make-models).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files/file.h"
#include "engine/io/model_json.h"
#include "engine/model/graph.h"

namespace moil {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(MOIL_SOURCE_DIR) / "config" / "models";

// Trained weights. ResNet-18, MobileNetV2 and LeNet-5: as published.
const std::map<std::string, std::int64_t> kWeights = {
    {"alexnet-cifar", 23'272'266},
    {"cifar-mobilenet", 426'119},
    {"cifar-resnet20", 272'279},
    {"digits-mobilenet", 66'919},
    {"lenet5", 61'706},
    {"mobilenet_v2", 3'504'872},
    {"resnet18", 11'689'512},
    {"resnet18-cifar", 11'173'962},
    {"resnet18-sound", 2'801'450},
    {"text-lstm", 938'561},
    {"text-transformer", 859'393},
    {"vgg16-bn-cifar", 14'853'066},
    {"vgg16-cifar", 14'848'842},
};

std::int64_t trained_weights(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes) {
    for (const WeightSpec& weight : node.weights) {
      if (weight.trainable) sum += weight.dims.elements();
    }
  }
  return sum;
}

TEST(ModelZooTest, HasTheModelsOfTheList) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    EXPECT_TRUE(kWeights.contains(entry.path().stem().string())) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, kWeights.size());
}

class ModelZoo : public ::testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path file() const { return kFolder / (GetParam() + ".json"); }
};

TEST_P(ModelZoo, IsWrittenAsTheEngineWritesIt) {
  const ModelDescription model = read_model(file());
  EXPECT_EQ(model.name, GetParam());
  EXPECT_EQ(format_model(model), read_text(file()));
}

// Of a text it says at each place what comes next.
bool is_of_text(const ModelDescription& model) { return model.name.starts_with("text-"); }

TEST_P(ModelZoo, EndsInItsClassifier) {
  const ModelDescription model = read_model(file());
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.outputs, std::vector<std::string>{is_of_text(model) ? "next" : "classifier"});
  EXPECT_EQ(model.layers.back().type, "fully_connected");
}

TEST_P(ModelZoo, ConvolutionsBeforeBatchNormHaveNoBias) {
  const ModelDescription model = read_model(file());
  for (std::size_t i = 1; i < model.layers.size(); ++i) {
    if (model.layers[i].type != "batch_norm") continue;
    EXPECT_EQ(model.layers[i].inputs[0], model.layers[i - 1].name);
    EXPECT_EQ(model.layers[i - 1].properties.at("bias"), Property(false)) << model.layers[i].name;
  }
}

TEST_P(ModelZoo, BuildsWithTheWeightsItShouldHave) {
  const ModelDescription model = read_model(file());
  const Graph graph = build_graph(model, 2);
  EXPECT_EQ(trained_weights(graph), kWeights.at(GetParam()));
  const Dims& logits = graph.values[static_cast<std::size_t>(graph.outputs.at(0))].info.dims;
  EXPECT_EQ(logits[0], 2);
  EXPECT_EQ(logits.rank(), is_of_text(model) ? 3U : 2U);
  EXPECT_EQ(Property(logits[logits.rank() - 1]), model.layers.back().properties.at("units"));
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& [name, weights] : kWeights) result.push_back(name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, ModelZoo, ::testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace moil
