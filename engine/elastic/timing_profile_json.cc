#include "engine/elastic/timing_profile_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace moil {
namespace {

double seconds_of(const nlohmann::json& json, const char* name) {
  const double seconds = json.at(name).get<double>();
  if (std::isfinite(seconds) && seconds >= 0) return seconds;
  throw Error(ErrorCode::kBadData, std::string("timing profile: \"") + name + "\" is no time");
}

WeightTiming weight_from_json(const nlohmann::json& json) {
  WeightTiming weight{json.at("name").get<std::string>(), seconds_of(json, "gradient"),
                      seconds_of(json, "derivative"), seconds_of(json, "apply")};
  if (!json.contains("lone_apply")) return weight;
  weight.lone_gradient = seconds_of(json, "lone_gradient");
  weight.lone_apply = seconds_of(json, "lone_apply");
  return weight;
}

nlohmann::json to_json(const WeightTiming& weight) {
  nlohmann::json json = {{"name", weight.name},
                         {"gradient", weight.gradient},
                         {"derivative", weight.derivative},
                         {"apply", weight.apply}};
  if (!weight.is_large()) return json;
  json["lone_gradient"] = weight.lone_gradient;
  json["lone_apply"] = weight.lone_apply;
  return json;
}

LayerTiming layer_from_json(const nlohmann::json& json) {
  LayerTiming layer;
  layer.layer = json.at("layer").get<std::string>();
  layer.forward = seconds_of(json, "forward");
  layer.derivative = seconds_of(json, "derivative");
  layer.all_gradient = seconds_of(json, "all_gradient");
  layer.all_derivative = seconds_of(json, "all_derivative");
  for (const auto& weight : json.at("weights")) layer.weights.push_back(weight_from_json(weight));
  return layer;
}

// Of a profile that was kept before they were measured: none.
std::vector<BackwardTiming> backward_from_json(const nlohmann::json& profile, const char* name) {
  std::vector<BackwardTiming> passes;
  for (const auto& pass : profile.value(name, nlohmann::json::array())) {
    passes.push_back({seconds_of(pass, "share"), seconds_of(pass, "factor")});
    if (passes.size() > 1 && passes[passes.size() - 2].share >= passes.back().share)
      throw Error(ErrorCode::kBadData,
                  "timing profile: the shares of its backward passes do not rise");
  }
  return passes;
}

}  // namespace

nlohmann::json to_json(const std::vector<BackwardTiming>& backward) {
  nlohmann::json json = nlohmann::json::array();
  for (const BackwardTiming& pass : backward)
    json.push_back({{"share", pass.share}, {"factor", pass.factor}});
  return json;
}

nlohmann::json to_json(const TimingProfile& profile) {
  nlohmann::json layers = nlohmann::json::array();
  for (const LayerTiming& layer : profile.layers) {
    nlohmann::json weights = nlohmann::json::array();
    for (const WeightTiming& w : layer.weights) weights.push_back(to_json(w));
    layers.push_back({{"layer", layer.layer},
                      {"forward", layer.forward},
                      {"derivative", layer.derivative},
                      {"all_gradient", layer.all_gradient},
                      {"all_derivative", layer.all_derivative},
                      {"weights", std::move(weights)}});
  }
  return {{"forward", profile.forward},
          {"step", profile.step},
          {"besides", profile.besides},
          {"backward", to_json(profile.backward)},
          {"kernelless_backward", to_json(profile.kernelless_backward)},
          {"layers", std::move(layers)}};
}

TimingProfile timing_profile_from_json(const nlohmann::json& json) {
  try {
    TimingProfile profile;
    profile.forward = seconds_of(json, "forward");
    profile.step = seconds_of(json, "step");
    profile.besides = seconds_of(json, "besides");
    profile.backward = backward_from_json(json, "backward");
    profile.kernelless_backward = backward_from_json(json, "kernelless_backward");
    for (const auto& layer : json.at("layers")) profile.layers.push_back(layer_from_json(layer));
    return profile;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::kBadData, std::string("timing profile: ") + e.what());
  }
}

}  // namespace moil
