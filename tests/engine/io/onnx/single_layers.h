// Models of one layer each, in all its forms. ONNX has no operator for these layers.
#pragma once

#include <cmath>

#include "engine/model/graph.h"
#include "tests/engine/io/onnx/exported.h"

namespace moil::onnx {

// Each weight with numbers of its own.
inline WeightMap varied_weights(const ModelDescription& model) {
  WeightMap weights;
  int count = 0;
  for (const auto& node : build_graph(model, 1).nodes) {
    for (const WeightSpec& spec : node.weights) {
      const auto dims = spec.dims.values();
      NamedTensor weight{{dims.begin(), dims.end()}, {}};
      for (std::int64_t i = 0; i < spec.dims.elements(); ++i)
        weight.data.push_back(static_cast<float>(std::sin(++count * 1.7)) * 0.7F);
      weights.emplace(weight_name(node, spec), std::move(weight));
    }
  }
  return weights;
}

inline ImportedModel single_layer(const std::string& type, const Properties& properties,
                                  const std::vector<Ints>& inputs, bool lengths = false) {
  ImportedModel model;
  ModelDescription& d = model.description;
  d.name = "m";
  LayerDescription layer{"some.layer", type, {}, properties};
  for (const Ints& dims : inputs) d.inputs.push_back({"x" + std::to_string(d.inputs.size()), dims});
  if (lengths) d.inputs.push_back({"lengths", {1}, moil::ElementType::kInt32});
  for (const InputDescription& input : d.inputs) layer.inputs.push_back(input.name);
  d.layers = {layer};
  d.outputs = {"some.layer"};
  if (type == "location_attention") {  // both of its outputs
    d.layers.push_back(
        {"both", "concat", {"some.layer", "some.layer:1"}, {{"axis", std::int64_t{1}}}});
    d.outputs = {"both"};
  }
  model.weights = varied_weights(d);
  return model;
}

inline std::map<std::string, ImportedModel> single_layers() {
  std::map<std::string, ImportedModel> all;
  const std::map<std::string, std::vector<Ints>> sources = {
      {"one", {{4, 4}}}, {"two", {{3, 4}, {5, 4}}}, {"three", {{3, 4}, {4, 4}, {4, 4}}}};
  for (const bool lengths : {false, true}) {
    const std::string end = lengths ? " by lengths" : "";
    for (const auto& [name, inputs] : sources) {
      Properties properties = {{"heads", std::int64_t{2}}};
      const auto add = [&](const std::string& what) {
        all["attention of " + name + what + end] =
            single_layer("multi_head_attention", properties, inputs, lengths);
      };
      add("");
      properties["causal"] = true;
      add(" causal");
      properties["bias"] = false;
      add(" causal plain");
    }
    all["location" + end] = single_layer(
        "location_attention", {{"filters", std::int64_t{3}}, {"kernel", std::int64_t{5}}},
        {{6}, {4, 3}, {4, 2}, {4}, {4}}, lengths);
    if (!lengths) continue;
    for (const char* type : {"lstm", "gru", "rnn"})
      all[type + end] = single_layer(type, {{"units", std::int64_t{3}}}, {{4, 4}}, true);
    all["lstm backward" + end] =
        single_layer("lstm", {{"units", std::int64_t{3}}, {"reverse", true}}, {{4, 4}}, true);
  }
  all["positions"] = single_layer("positional_encoding", {}, {{4, 5}});
  all["positions scaled"] = single_layer("positional_encoding", {{"scale", 2.5}}, {{4, 6}});
  const Properties line = {{"out_channels", std::int64_t{3}}, {"kernel", std::int64_t{3}}};
  all["conv1d"] = single_layer("conv1d", line, {{7, 4}});
  Properties other = line;
  other.insert({{"stride", std::int64_t{2}},
                {"dilation", std::int64_t{2}},
                {"padding", Ints{1, 2}},
                {"bias", false}});
  all["conv1d of a stride"] = single_layer("conv1d", other, {{7, 4}});
  return all;
}

}  // namespace moil::onnx
