#include "engine/io/recorded_device_json.h"

#include "base/files/file.h"
#include "engine/io/json_node.h"

namespace moil {
namespace {

constexpr int kDeviceDepth = 4;  // document, layers, a layer, a pass
constexpr const char* kPassNames[kPasses] = {"FP", "BP", "UP"};

PassTimes read_pass(const JsonNode& node) {
  node.only({"c", "g"});
  PassTimes times{node.at("c").number_from_0()};
  if (node.json.contains("g")) times[kSecondProcessor] = node.at("g").number_from_0();
  return times;
}

void read_layer(const JsonNode& node, RecordedDevice& device) {
  node.only({"name", "type", "FP", "BP", "UP"});
  const std::string name = node.at("name").word();
  RecordedDevice::Layer layer{node.at("type").word(), {}};
  for (std::size_t p = 0; p < layer.passes.size(); ++p)
    if (node.json.contains(kPassNames[p])) layer.passes[p] = read_pass(node.at(kPassNames[p]));
  if (!device.layers.emplace(name, std::move(layer)).second)
    node.at("name").bad("\"" + name + "\" is there twice");
}

TransferCost read_cost(const JsonNode& node) {
  node.only({"seconds", "seconds_per_byte"});
  return {node.at("seconds").number_from_0(), node.at("seconds_per_byte").number_from_0()};
}

void read_transfers(const JsonNode& node, TransferCosts& costs) {
  node.only({"take", "give"});
  costs.take = read_cost(node.at("take"));
  costs.give = read_cost(node.at("give"));
}

Json to_json(const TransferCost& cost) {
  return {{"seconds", cost.seconds}, {"seconds_per_byte", cost.seconds_per_byte}};
}

Json to_json(const TransferCosts& costs) {
  return {{"take", to_json(costs.take)}, {"give", to_json(costs.give)}};
}

Json to_json(const std::string& name, const RecordedDevice::Layer& layer) {
  Json json = {{"name", name}, {"type", layer.type}};
  for (std::size_t p = 0; p < layer.passes.size(); ++p) {
    if (!layer.passes[p]) continue;
    json[kPassNames[p]] = {{"c", layer.passes[p]->at(kCpu).value()}};
    if (const auto& second = (*layer.passes[p])[kSecondProcessor])
      json[kPassNames[p]]["g"] = *second;
  }
  return json;
}

}  // namespace

RecordedDevice parse_recorded_device(std::string_view json, const std::string& where) {
  const Json parsed = parse_strict_json(json, where, kDeviceDepth);
  const JsonNode document{parsed, "", where};
  document.only({"device", "note", "network", "batch", "layers", "transfers"});
  RecordedDevice device;
  device.device = document.at("device").word();
  device.note = document.at("note").word();
  device.network = document.at("network").word();
  device.batch = document.at("batch").integer(1);
  for (const JsonNode& layer : document.at("layers").items("a list of layers"))
    read_layer(layer, device);
  const JsonNode transfers = document.at("transfers");
  transfers.only({"map", "copy"});
  read_transfers(transfers.at("map"), device.mapped);
  read_transfers(transfers.at("copy"), device.copied);
  return device;
}

RecordedDevice read_recorded_device(const std::filesystem::path& file) {
  return parse_recorded_device(read_text(file), file.string());
}

std::string format_recorded_device(const RecordedDevice& device) {
  Json layers = Json::array();
  for (const auto& [name, layer] : device.layers) layers.push_back(to_json(name, layer));
  const Json document = {
      {"device", device.device},
      {"note", device.note},
      {"network", device.network},
      {"batch", device.batch},
      {"layers", std::move(layers)},
      {"transfers", {{"map", to_json(device.mapped)}, {"copy", to_json(device.copied)}}}};
  return document.dump(1) + "\n";
}

}  // namespace moil
