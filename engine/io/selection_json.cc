#include "engine/io/selection_json.h"

#include "base/json/json.h"

namespace moil {
namespace {

Json layer_json(const SelectionLayer& layer, const LayerSchedule& schedule) {
  Json json = {
      {"name", layer.name}, {"type", layer.type}, {"processors", to_string(layer, schedule)}};
  for (std::size_t p = 0; p < layer.passes.size(); ++p) {
    const auto& pass = layer.passes[p];
    if (!pass) continue;
    json[to_string(static_cast<Pass>(p))] = {
        {"c", pass->cpu}, {"g", pass->elsewhere ? Json(*pass->elsewhere) : Json()}};
  }
  return json;
}

Json methods_json(const SelectionProblem& problem) {
  Json methods = Json::object();
  for (const SelectionMethod method : kSelectionMethods) {
    const ScheduleCost cost = cost_of(problem, select(problem, method));
    methods[std::string(to_string(method))] = {{"seconds", cost.seconds()},
                                               {"transfers", cost.transfers()}};
  }
  return methods;
}

}  // namespace

Json selection_json(const std::string& device, SelectionMethod method,
                    const SelectionProblem& problem, const Schedule& schedule,
                    const std::vector<std::string>& refused) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < schedule.size(); ++i)
    layers.push_back(layer_json(problem.layers[i], schedule[i]));
  return {{"device", device},
          {"method", to_string(method)},
          {"layers", std::move(layers)},
          {"methods", methods_json(problem)},
          {"refused", refused}};
}

}  // namespace moil
