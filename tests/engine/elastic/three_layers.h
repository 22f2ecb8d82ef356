// A model whose times are known to the second.
#pragma once

#include <string>
#include <vector>

#include "engine/elastic/tail_cut.h"
#include "engine/model/preparation.h"
#include "engine/train/trainer.h"
#include "tests/engine/model/models.h"

namespace moil::test {

inline const std::string kFirst = "fully_connected0.weight", kSecond = "fully_connected1.weight",
                         kLast = "fully_connected2.weight";

// Three layers with a weight each, biasless; forward, update and passing on of each layer take a
// second.
struct ThreeLayers {
  ThreeLayers()
      : model(ModelBuilder({4})
                  .layer("fully_connected", {{"units", 5}, {"bias", false}})
                  .relu()
                  .layer("fully_connected", {{"units", 6}, {"bias", false}})
                  .relu()
                  .layer("fully_connected", {{"units", 3}, {"bias", false}})
                  .model()),
        graph(build_graph(training_plan_input(model, nullptr, TrainerConfig{}).model, 4)),
        cuts(tail_cuts(model, graph)) {
    for (const Node& node : graph.nodes) {
      LayerTiming layer{node.name, 1, 1, {}};
      if (!node.weights.empty()) layer.weights.push_back({weight_name(node, node.weights[0]), 1});
      profile.layers.push_back(layer);
      profile.forward += 1;
    }
    profile.step = predicted_step(profile, graph, {kFirst, kSecond, kLast});
  }

  TailTerms terms(double computed) const { return {cuts, 1000, computed, "", 1}; }

  ModelDescription model;
  Graph graph;
  std::vector<TailCut> cuts;
  TimingProfile profile;
};

}  // namespace moil::test
