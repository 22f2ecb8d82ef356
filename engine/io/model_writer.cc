// The writing half of model_json.h.
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "base/safetensors/strict_json.h"
#include "engine/io/model_json.h"

namespace moil {
namespace {

using OrderedJson = nlohmann::ordered_json;

// One line, with a space behind each comma and colon.
std::string on_one_line(const OrderedJson& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += OrderedJson(key).dump() + ": ";
    text += on_one_line(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

void check_finite(const LayerDescription& layer, const std::string& property, double value) {
  if (std::isfinite(value)) return;
  throw Error(ErrorCode::kInvalidArgument,
              "layer \"" + layer.name + "\": property \"" + property + "\" is not a finite number");
}

OrderedJson to_json(const LayerDescription& layer) {
  OrderedJson json = {{"name", layer.name}, {"type", layer.type}, {"inputs", layer.inputs}};
  for (const auto& [name, property] : layer.properties) {
    std::visit(
        [&, &key = name](const auto& value) {
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, double>) check_finite(layer, key, value);
          if constexpr (std::is_same_v<Value, std::vector<double>>) {
            for (const double item : value) check_finite(layer, key, item);
          }
          json["properties"][key] = value;
        },
        property);
  }
  for (const auto& [name, weight] : layer.shares) json["shares"][name] = weight;
  return json;
}

// A list with one item a line.
std::string on_lines(const std::vector<OrderedJson>& items) {
  std::string text;
  for (const OrderedJson& item : items)
    text += (text.empty() ? "\n    " : ",\n    ") + on_one_line(item);
  return text.empty() ? "[]" : "[" + text + "\n  ]";
}

}  // namespace

std::string format_model(const ModelDescription& model) {
  try {
    std::vector<OrderedJson> inputs, layers;
    for (const InputDescription& input : model.inputs) {
      inputs.push_back({{"name", input.name}, {"dims", input.dims}});
      if (input.type != ElementType::kFloat32) inputs.back()["type"] = to_string(input.type);
    }
    for (const LayerDescription& layer : model.layers) layers.push_back(to_json(layer));
    return "{\n  \"format\": \"moil-model\",\n  \"version\": " +
           std::to_string(kModelFormatVersion) +
           ",\n  \"name\": " + OrderedJson(model.name).dump() +
           ",\n  \"inputs\": " + on_lines(inputs) + ",\n  \"layers\": " + on_lines(layers) +
           ",\n  \"outputs\": " + on_one_line(OrderedJson(model.outputs)) + "\n}\n";
  } catch (const OrderedJson::exception&) {
    throw Error(ErrorCode::kInvalidArgument,
                "model \"" + model.name + "\": a name or property is not UTF-8");
  }
}

}  // namespace moil
