// Every layer that goes to ONNX goes to TensorFlow Lite and comes back the same, or is refused by
// name. LiteRT's answers: tests/parity/tflite_export_test.py.
#include "engine/io/tflite/export/tflite_export.h"

#include <gmock/gmock.h>

#include <set>

#include "engine/layers/factory.h"
#include "tests/engine/io/tflite/builder.h"
#include "tests/engine/io/tflite/exported_layers.h"
#include "tests/engine/io/tflite/small_files.h"
#include "tests/engine/layers/types_of_tests.h"

namespace moil::tflite::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string type_of(const std::string& name) { return name.substr(0, name.find(' ')); }

// The format has nothing for them.
bool is_refused(const std::string& name) {
  static const std::set<std::string> kOthers = {
      "max_pool with gaps", "pad six axes", "resize to the next pixel", "rnn of too many steps"};
  const std::string type = type_of(name);
  const bool is_recurrent = type == "gru" || type == "lstm" || type == "rnn";
  return (is_recurrent && name.ends_with("by lengths")) || kOthers.contains(name);
}

// What a network has in training alone; ONNX has nothing for it, either.
const std::set<std::string> kTrainingTypes = {"huber",
                                              "mse",
                                              "multi_out",
                                              "scheduled_sampling",
                                              "sigmoid_cross_entropy",
                                              "softmax_cross_entropy"};
// LiteRT runs what is written of them; the importer does not know it, or finds no layer in it.
bool is_one_way(const std::string& name) {
  static const std::vector<std::string> kParts = {"mish",
                                                  "softplus",
                                                  "identity",
                                                  "dropout",
                                                  "permute image",
                                                  "by lengths",
                                                  "causal",
                                                  "multiply image by channels",
                                                  "location_attention"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

std::string bytes_of(const ImportedModel& model) {
  return export_tflite(model.description, model.weights);
}

TEST(TfliteExport, EveryTypeOfLayerIsTried) {
  std::set<std::string> tried;
  for (const auto& [name, model] : exported_layers()) tried.insert(type_of(name));
  for (const std::string& type : layer_types()) {
    if (moil::test::is_of_another_test(type)) continue;
    EXPECT_EQ(tried.contains(type), !kTrainingTypes.contains(type)) << type;
  }
}

void expect_same_answers(const ImportedModel& model, const ImportedModel& again) {
  const std::vector<float> expected = answer_of(model, model).data,
                           found = answer_of(again, model).data;
  EXPECT_EQ(found.size(), expected.size());
  if (found.size() != expected.size()) return;
  float largest = 0;
  for (const float value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-5 * largest) << i;
}

TEST(TfliteExport, LayersComeBackTheSame) {
  for (const auto& [name, model] : exported_layers()) {
    SCOPED_TRACE(name);
    if (is_refused(name)) continue;
    const std::string bytes = bytes_of(model);
    if (is_one_way(name))
      EXPECT_THROW((void)imported(bytes), Error);
    else
      expect_same_answers(model, imported(bytes));
  }
}

// The graph that is written is the one that goes to ONNX.
TEST(TfliteExport, LayersComeBackTheSameByWayOfOnnx) {
  for (const auto& [name, model] : exported_layers()) {
    SCOPED_TRACE(name);
    if (type_of(name) == "identity") continue;  // nothing is left of it
    const onnx::Graph graph = onnx::export_onnx(model.description, model.weights);
    try {
      expect_same_answers(model, onnx::import_onnx(onnx::parse_onnx(onnx::format_onnx(graph))));
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

TEST(TfliteExport, WhatTheFormatHasNothingForIsNamed) {
  for (const auto& [name, model] : exported_layers()) {
    if (!is_refused(name)) continue;
    try {
      (void)bytes_of(model);
      ADD_FAILURE() << name << " was written";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUnimplemented);
      EXPECT_THAT(e.what(), HasSubstr("\"some.layer")) << name;
    }
  }
}

TEST(TfliteExport, TextsTravelBesideTheGraph) {
  const onnx::Graph graph = parse_tflite(bytes_in(small_export()));
  EXPECT_EQ(graph.name, "small");
  EXPECT_THAT(graph.metadata, ElementsAre(Pair("moil.labels", R"(["a","b","c"])")));
}

// All that cannot be written is told at once, and nothing that merely stands behind it.
TEST(TfliteExport, ProblemsAreToldTogether) {
  ImportedModel model = exported_layers().at("resize to the next pixel");
  model.description.layers.push_back({"next", "relu", {"some.layer"}, {}});
  model.description.layers.push_back(
      {"pooled", "max_pool", {"x0"}, {{"kernel", whole(2)}, {"dilation", whole(2)}}});
  model.description.outputs = {"next", "pooled"};
  try {
    (void)bytes_of(model);
    ADD_FAILURE() << "it was written";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("2 of "));
    EXPECT_THAT(e.what(),
                HasSubstr("node \"some.layer\" (Resize): the format has no asymmetric with ceil"));
    EXPECT_THAT(e.what(), HasSubstr("node \"pooled\" (MaxPool): the format's pools have no"));
  }
}

}  // namespace
}  // namespace moil::tflite::test
