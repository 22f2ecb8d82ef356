// The reading half of model_json.h.
#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/safetensors/strict_json.h"
#include "engine/io/json_node.h"
#include "engine/io/model_json.h"

namespace moil {
namespace {

constexpr int kModelDepth = 5;  // document, layers, a layer, its properties, a list
constexpr std::size_t kMaxRank = 5;

Property read_list(const JsonNode& node) {
  bool whole = true;
  for (const Json& item : node.json) whole = whole && item.is_number_integer();
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  for (const JsonNode& item : node.items("a list")) {
    if (!item.json.is_number()) item.fail("a number");
    if (whole) {
      integers.push_back(item.integer(std::numeric_limits<std::int64_t>::min()));
    } else {
      numbers.push_back(item.json.get<double>());
    }
  }
  if (whole) return integers;
  return numbers;
}

Property read_property(const JsonNode& node) {
  const Json& json = node.json;
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return node.integer(std::numeric_limits<std::int64_t>::min());
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return read_list(node);
  node.fail("a flag, a number, a string or a list of numbers");
}

InputDescription read_input(const JsonNode& node) {
  node.only({"name", "dims", "type"});
  InputDescription input{node.at("name").word(), {}};
  if (node.json.contains("type")) {
    const JsonNode type = node.at("type");
    if (type.json != "float32" && type.json != "int32") type.fail("\"float32\" or \"int32\"");
    if (type.json == "int32") input.type = ElementType::kInt32;
  }
  const JsonNode dims = node.at("dims");
  for (const JsonNode& dim : dims.items("a list of dimensions"))
    input.dims.push_back(dim.integer(1));
  if (input.dims.empty() || input.dims.size() > kMaxRank) {
    dims.fail("1 to " + std::to_string(kMaxRank) + " dimensions, without the batch");
  }
  return input;
}

LayerDescription read_layer(const JsonNode& node) {
  node.only({"name", "type", "inputs", "properties", "shares"});
  LayerDescription layer{node.at("name").word(), node.at("type").word(), {}, {}};
  for (const JsonNode& input : node.at("inputs").items("a list of names")) {
    layer.inputs.push_back(input.word());
  }
  if (node.json.contains("shares")) {
    const JsonNode shares = node.at("shares");
    if (!shares.json.is_object()) shares.fail("an object");
    for (const auto& [name, value] : shares.json.items())
      layer.shares[name] = JsonNode{value, child_pointer(shares.pointer, name), node.where}.word();
  }
  if (!node.json.contains("properties")) return layer;
  const JsonNode properties = node.at("properties");
  if (!properties.json.is_object()) properties.fail("an object");
  for (const auto& [name, value] : properties.json.items()) {
    layer.properties[name] =
        read_property({value, child_pointer(properties.pointer, name), node.where});
  }
  return layer;
}

void check_version(const JsonNode& document) {
  const JsonNode format = document.at("format");
  if (format.json != "moil-model") format.fail("\"moil-model\"");
  const JsonNode version = document.at("version");
  if (version.integer(1) != kModelFormatVersion) {
    version.bad("this program reads version " + std::to_string(kModelFormatVersion) +
                ", the file has version " + std::to_string(version.integer(1)));
  }
}

}  // namespace

ModelDescription parse_model(std::string_view json, const std::string& where) {
  const Json parsed = parse_strict_json(json, where, kModelDepth);
  const JsonNode document{parsed, "", where};
  if (!parsed.is_object()) document.fail("an object");
  check_version(document);  // first: a later version may have other keys
  document.only({"format", "version", "name", "inputs", "layers", "outputs"});
  ModelDescription model;
  model.name = document.at("name").word();
  std::set<std::string> names;
  const auto add_name = [&names](const JsonNode& node, const std::string& name) {
    if (!names.insert(name).second) node.bad("the name \"" + name + "\" is taken already");
  };
  for (const JsonNode& input : document.at("inputs").items("a list of inputs")) {
    model.inputs.push_back(read_input(input));
    add_name(input.at("name"), model.inputs.back().name);
  }
  for (const JsonNode& layer : document.at("layers").items("a list of layers")) {
    model.layers.push_back(read_layer(layer));
    add_name(layer.at("name"), model.layers.back().name);
  }
  for (const JsonNode& output : document.at("outputs").items("a list of names")) {
    model.outputs.push_back(output.word());
  }
  return model;
}

}  // namespace moil
