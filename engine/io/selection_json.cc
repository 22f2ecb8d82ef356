#include "engine/io/selection_json.h"

#include <cctype>

#include "base/json/json.h"

namespace moil {
namespace {

Json times_json(const PassTimes& times, std::size_t processors) {
  Json json = Json::object();
  for (ProcessorId id = kCpu; id < processors; ++id) {
    const auto letter = static_cast<char>(std::tolower(letter_of(id)));
    json[std::string(1, letter)] = times[id] ? Json(*times[id]) : Json();
  }
  return json;
}

Json layer_json(const SelectionLayer& layer, const LayerSchedule& schedule,
                std::size_t processors) {
  Json json = {
      {"name", layer.name}, {"type", layer.type}, {"processors", to_string(layer, schedule)}};
  for (std::size_t p = 0; p < layer.passes.size(); ++p) {
    const auto& pass = layer.passes[p];
    if (!pass) continue;
    json[to_string(static_cast<Pass>(p))] = times_json(*pass, processors);
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
    layers.push_back(layer_json(problem.layers[i], schedule[i], 1 + problem.transfers.size()));
  return {{"device", device},
          {"method", to_string(method)},
          {"layers", std::move(layers)},
          {"methods", methods_json(problem)},
          {"refused", refused}};
}

}  // namespace moil
