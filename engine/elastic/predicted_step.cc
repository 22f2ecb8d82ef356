#include "engine/elastic/predicted_step.h"

#include <algorithm>

#include "base/error.h"
#include "engine/graph/backward_needs.h"

namespace moil {

PredictedStep::PredictedStep(const TimingProfile& profile, const Graph& graph,
                             const std::set<std::string>& selection)
    : profile_(profile),
      time_(profile),
      kernel_(last_kernel(profile)),
      kernel_learns_(has_last_kernel(selection, profile)),
      readers_(graph.nodes.size()) {
  const BackwardNeeds needs = backward_needs(graph, selection);
  std::size_t found = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const int v : graph.nodes[i].outputs) {
      for (const Consumer& c : graph.values[static_cast<std::size_t>(v)].consumers)
        readers_[i].push_back(static_cast<std::size_t>(c.node));
    }
    passes_.push_back(needs.derivative_of_inputs(graph.nodes[i]));
    learns_.push_back(profile.layers.at(i).learning(selection));
    for (std::size_t w = 0; w < learns_[i].size(); ++w) {
      if (!learns_[i][w]) continue;
      ++found;
      count({i, w});
    }
    pass_seconds_.push_back(profile.layers[i].pass_seconds(learns_[i]));
  }
  if (found != selection.size())
    throw Error(ErrorCode::kInvalidArgument, "a selected weight is not in the timing profile");
}

void PredictedStep::count(Tensor t) {
  if (weight(t).is_large() && large_++ == 0) lone_ = t;
}

double PredictedStep::saved_with(Tensor t) const {
  if (weight(t).is_large()) return large_ == 0 && !passes_[t.layer] ? weight(t).saved() : 0;
  if (!lone_saves()) return 0;
  const std::vector<std::size_t> way = way_to(t.layer);
  return std::ranges::find(way, lone_.layer) == way.end() ? saved() : 0;
}

double PredictedStep::parts() const {
  double seconds = 0;
  for (std::size_t i = 0; i < learns_.size(); ++i) {
    seconds += profile_.layers[i].update_seconds(learns_[i]);
    if (passes_[i]) seconds += pass_seconds_[i];
  }
  return seconds;
}

double PredictedStep::way_parts(std::size_t layer) const {
  double seconds = 0;
  for (const std::size_t i : way_to(layer)) seconds += pass_seconds_[i];
  return seconds;
}

double PredictedStep::own_parts(Tensor t) const {
  const LayerTiming& layer = profile_.layers[t.layer];
  std::vector<bool> learns = learns_[t.layer];
  double seconds = -layer.update_seconds(learns);
  learns[t.weight] = true;
  seconds += layer.update_seconds(learns);
  if (passes_[t.layer]) seconds += layer.pass_seconds(learns) - pass_seconds_[t.layer];
  return seconds;
}

void PredictedStep::add(Tensor t) {
  for (const std::size_t i : way_to(t.layer)) passes_[i] = true;
  learns_[t.layer][t.weight] = true;
  count(t);
  kernel_learns_ = kernel_learns_ || is_kernel(t);
  pass_seconds_[t.layer] = profile_.layers[t.layer].pass_seconds(learns_[t.layer]);
}

std::vector<std::size_t> PredictedStep::way_to(std::size_t layer) const {
  std::vector<std::size_t> way;
  std::vector<bool> passed = passes_;
  const auto leave = [&](std::size_t i) {
    for (const std::size_t reader : readers_[i]) {
      if (!passed[reader]) way.push_back(reader);
      passed[reader] = true;
    }
  };
  leave(layer);
  for (std::size_t i = 0; i < way.size(); ++i) leave(way[i]);
  return way;
}

double predicted_step(const TimingProfile& profile, const Graph& graph,
                      const std::set<std::string>& selection) {
  return PredictedStep(profile, graph, selection).seconds();
}

}  // namespace moil
