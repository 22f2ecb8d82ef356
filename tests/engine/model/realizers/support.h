// What tests of realizers share: how a model's layers hang together, and what refuses them.
#pragma once

#include <string>
#include <vector>

#include "engine/model/model_description.h"
#include "tests/errors.h"

namespace moil::test {

// "name = type(input, input)" of every layer.
inline std::vector<std::string> equations(const ModelDescription& model) {
  std::vector<std::string> lines;
  for (const auto& layer : model.layers) {
    std::string inputs;
    for (const auto& input : layer.inputs) inputs += (inputs.empty() ? "" : ", ") + input;
    lines.push_back(layer.name + " = " + layer.type + "(" + inputs + ")");
  }
  return lines;
}

inline std::vector<std::string> types_of(const ModelDescription& model) {
  std::vector<std::string> types;
  for (const auto& layer : model.layers) types.push_back(layer.type);
  return types;
}

}  // namespace moil::test
