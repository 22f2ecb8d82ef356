#include "daemon/night/plan/deadline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "base/error.h"
#include "daemon/night/maps/head_slice.h"
#include "engine/model/surgery.h"

namespace moil::night {
namespace {

// Steps wait for batches now and then, and choosing takes time.
constexpr double kReserve = 1.05;
constexpr double kEnoughOfAStep = 0.5;

std::set<std::string> layer_names(const ModelDescription& model) {
  std::set<std::string> names;
  for (const LayerDescription& layer : model.layers) names.insert(layer.name);
  return names;
}

// Those of the deepest head's layers that a shallower one leaves to the backbone run once a sample
// and not in each step.
double backbone_seconds(const TimingProfile& profile, const std::set<std::string>& deepest,
                        const std::set<std::string>& head) {
  double seconds = 0;
  for (const LayerTiming& layer : profile.layers) {
    if (deepest.contains(layer.layer) && !head.contains(layer.layer)) seconds += layer.forward;
  }
  return seconds;
}

std::set<std::string> weights_of(const TimingProfile& profile,
                                 const std::set<std::string>& layers) {
  std::set<std::string> names;
  for (const LayerTiming& layer : profile.layers) {
    if (!layers.contains(layer.layer)) continue;
    for (const WeightTiming& weight : layer.weights) names.insert(weight.name);
  }
  return names;
}

std::string whole_seconds(double seconds) {
  return std::to_string(static_cast<std::int64_t>(std::ceil(seconds)));
}

}  // namespace

std::vector<HeadTimes> head_times(const ModelDescription& model, const Freeze& deepest,
                                  bool batch_norms, const TrainerConfig& config,
                                  const TimingProfile& profile) {
  const ModelDescription whole_head = head_slice(model, deepest);
  const Graph graph =
      build_graph(training_plan_input(whole_head, &deepest.trainable_layers, config).model,
                  micro_batch_of(config));
  const std::set<std::string> deepest_layers = layer_names(whole_head);
  const std::set<std::string> classifier = weights_of(profile, {find_classifier(whole_head)});
  std::vector<HeadTimes> heads;
  for (int n = 1; n <= deepest.trained_units; ++n) {
    Freeze freeze = freeze_all_but_last(model, n);
    if (batch_norms) freeze_batch_norms(model, freeze);
    if (freeze.trainable_layers.empty()) continue;
    const double saved =
        backbone_seconds(profile, deepest_layers, layer_names(head_slice(model, freeze)));
    heads.push_back(
        {n, predicted_step(profile, graph, weights_of(profile, freeze.trainable_layers)) - saved,
         predicted_step(profile, graph, classifier) - saved,
         saved / static_cast<double>(micro_batch_of(config))});
  }
  return heads;
}

double rho_in_time(const HeadTimes& head, double seconds_left, std::int64_t steps) {
  const double step =
      seconds_left / (kReserve * static_cast<double>(std::max<std::int64_t>(1, steps)));
  return std::clamp(step / head.full, std::min(1.0, 1.01 * head.smallest / head.full), 1.0);
}

HeadChoice choose_head(std::span<const HeadTimes> heads, const NightCosts& costs,
                       double deadline_seconds) {
  double shortest = std::numeric_limits<double>::infinity();
  HeadChoice best;
  for (const HeadTimes& head : heads) {
    const double others =
        costs.before + costs.after + head.backbone * static_cast<double>(costs.feature_maps);
    const double least = kReserve * static_cast<double>(costs.steps) * head.smallest;
    shortest = std::min(shortest, others + least);
    if (others + least > deadline_seconds) continue;
    const double rho = rho_in_time(head, deadline_seconds - others, costs.steps);
    if (rho >= kEnoughOfAStep || rho >= best.rho || best.trained_units == 0)
      best = {head.trained_units, rho};
  }
  if (best.trained_units > 0) return best;
  throw Error(ErrorCode::kInvalidArgument,
              "deadline_seconds " + whole_seconds(deadline_seconds) +
                  " cannot be kept: the shortest possible is about " + whole_seconds(shortest) +
                  " (" + whole_seconds(costs.before) + " s for feature maps, " +
                  whole_seconds(costs.after) + " s for judging, the rest for " +
                  std::to_string(costs.steps) + " steps); fewer epochs take less");
}

}  // namespace moil::night
