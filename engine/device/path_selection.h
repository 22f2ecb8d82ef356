// The cheapest schedule of all, by dynamic programming over the layers in their order.
//
// A tensor's transfers depend on the layers that touch it and on nothing else. So, going from layer
// to layer, only the combinations of those layers have to be told apart that share a tensor with
// one still to come: one on a chain, two or three on a residual network. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/selection.h"

namespace moil {

class PathSearch {
 public:
  // most_states: of open layers together; beyond that the cheapest are kept.
  PathSearch(const SelectionProblem& problem, std::size_t most_states);
  [[nodiscard]] Schedule run();
  // Whether run() gave the cheapest of all.
  bool is_exact() const { return exact_; }

 private:
  struct State {
    std::vector<std::uint8_t> open;  // the combination of each open layer
    double seconds = 0;
    std::int64_t from = -1;        // the step that led here, in steps_
    std::uint8_t combination = 0;  // of the layer that it decided
  };
  struct Step {
    std::int64_t from = -1;
    std::uint8_t combination = 0;
  };

  void find_last_layers();
  std::vector<State> extended(const std::vector<State>& states, std::size_t layer);
  double transfer_seconds(const SelectionTensor& tensor,
                          const std::vector<std::uint8_t>& open) const;
  std::vector<State> closed(std::vector<State> states, std::size_t layer);
  void keep_cheapest(std::vector<State>& states);
  const LayerSchedule& schedule_of(std::size_t layer, std::uint8_t combination) const {
    return combinations_[layer][combination];
  }

  const SelectionProblem& problem_;
  const std::size_t most_states_;
  bool exact_ = true;
  std::vector<std::vector<LayerSchedule>> combinations_;  // of each layer
  std::vector<std::vector<std::size_t>> tensors_ending_;  // of each layer: it touches them last
  std::vector<std::size_t> open_until_;                   // of each layer
  std::vector<std::size_t> open_;                         // layers, in their order
  std::vector<Step> steps_;
};

}  // namespace moil
