#include "engine/device/path_selection.h"

#include <algorithm>
#include <map>

#include "base/index.h"
#include "engine/device/schedule_cost.h"

namespace moil {
PathSearch::PathSearch(const SelectionProblem& problem, std::size_t most_states)
    : problem_(problem), most_states_(most_states) {
  for (const SelectionLayer& layer : problem.layers)
    combinations_.push_back(combinations_of(layer));
  find_last_layers();
}

void PathSearch::find_last_layers() {
  tensors_ending_.resize(problem_.layers.size());
  open_until_.resize(problem_.layers.size());
  for (std::size_t layer = 0; layer < open_until_.size(); ++layer) open_until_[layer] = layer;
  for (std::size_t t = 0; t < problem_.tensors.size(); ++t) {
    int last = -1;
    for (const SelectionTouch& touch : problem_.tensors[t].touches)
      last = std::max(last, touch.layer);
    if (last < 0) continue;
    tensors_ending_[at(last)].push_back(t);
    for (const SelectionTouch& touch : problem_.tensors[t].touches)
      if (touch.layer >= 0)
        open_until_[at(touch.layer)] = std::max(open_until_[at(touch.layer)], at(last));
  }
}

Schedule PathSearch::run() {
  std::vector<State> states(1);
  for (std::size_t layer = 0; layer < problem_.layers.size(); ++layer) {
    open_.push_back(layer);
    states = closed(extended(states, layer), layer);
    keep_cheapest(states);
  }
  Schedule schedule(problem_.layers.size());
  if (schedule.empty()) return schedule;
  std::int64_t step = states.front().from;
  for (std::size_t layer = schedule.size(); layer-- > 0; step = steps_[at(step)].from)
    schedule[layer] = schedule_of(layer, steps_[at(step)].combination);
  return schedule;
}

// Every state with every combination of the layer, and what is then known of transfers.
std::vector<PathSearch::State> PathSearch::extended(const std::vector<State>& states,
                                                    std::size_t layer) {
  std::vector<State> next;
  next.reserve(states.size() * combinations_[layer].size());
  for (const State& state : states) {
    for (std::size_t c = 0; c < combinations_[layer].size(); ++c) {
      State more = state;
      more.combination = static_cast<std::uint8_t>(c);
      more.open.push_back(more.combination);
      more.seconds += pass_seconds(problem_.layers[layer], combinations_[layer][c]);
      for (const std::size_t t : tensors_ending_[layer])
        more.seconds += transfer_seconds(problem_.tensors[t], more.open);
      next.push_back(std::move(more));
    }
  }
  return next;
}

double PathSearch::transfer_seconds(const SelectionTensor& tensor,
                                    const std::vector<std::uint8_t>& open) const {
  return transfers_of(
             tensor, problem_.transfers,
             [&](const SelectionTouch& touch) {
               const auto place = std::lower_bound(open_.begin(), open_.end(), at(touch.layer));
               const std::uint8_t combination = open[at(place - open_.begin())];
               return schedule_of(at(touch.layer), combination)[at(static_cast<int>(touch.pass))];
             })
      .seconds;
}

// Layers that share nothing with those to come are told apart no longer: of states that are the
// same but for them, the cheapest stays.
std::vector<PathSearch::State> PathSearch::closed(std::vector<State> states, std::size_t layer) {
  std::vector<std::size_t> kept, places;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (open_until_[open_[i]] <= layer) continue;
    kept.push_back(open_[i]);
    places.push_back(i);
  }
  open_ = kept;
  std::map<std::vector<std::uint8_t>, State> cheapest;
  for (State& state : states) {
    std::vector<std::uint8_t> open;
    for (const std::size_t place : places) open.push_back(state.open[place]);
    state.open = open;
    const auto [it, is_new] = cheapest.try_emplace(std::move(open), state);
    if (!is_new && state.seconds < it->second.seconds) it->second = state;
  }
  std::vector<State> left;
  for (auto& [open, state] : cheapest) {
    steps_.push_back({state.from, state.combination});
    state.from = static_cast<std::int64_t>(steps_.size()) - 1;
    left.push_back(std::move(state));
  }
  return left;
}

void PathSearch::keep_cheapest(std::vector<State>& states) {
  if (states.size() <= most_states_) return;
  exact_ = false;
  std::nth_element(states.begin(), states.begin() + static_cast<std::ptrdiff_t>(most_states_),
                   states.end(),
                   [](const State& a, const State& b) { return a.seconds < b.seconds; });
  states.resize(most_states_);
}

}  // namespace moil
