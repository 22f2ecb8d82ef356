#include "engine/elastic/tail_cut.h"

#include <algorithm>

#include "engine/layers/traits.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

// What saves less of a full step is not worth the disk.
constexpr double kLeastSaving = 0.01;

// By what inference folds or fuses into what it reads (model/preparation.h).
bool is_read_by_what_joins(const Graph& graph, const std::string& value) {
  for (const Value& v : graph.values) {
    if (v.name != value) continue;
    for (const Consumer& c : v.consumers) {
      const auto& traits = layer_traits(graph.nodes[static_cast<std::size_t>(c.node)].type);
      if (traits.normalises_over_batch || traits.fuses_into_source) return true;
    }
  }
  return false;
}

std::size_t elements_in_cut(const Cut& cut) {
  std::size_t elements = 1;
  for (const std::int64_t d : cut.dims) elements *= static_cast<std::size_t>(d);
  return elements;
}

// A layer that training adds (a fan-out) is behind the cut if what it feeds is; the loss always is.
std::vector<bool> layers_before(const std::set<std::string>& backbone, const Graph& training) {
  std::vector<bool> before(training.nodes.size());
  for (std::size_t i = training.nodes.size(); i-- > 0;) {
    const Node& node = training.nodes[i];
    before[i] = backbone.contains(node.name);
    if (before[i] || !layer_traits(node.type).fans_out) continue;
    before[i] = true;
    for (const int v : node.outputs)
      for (const Consumer& c : training.values[static_cast<std::size_t>(v)].consumers)
        before[i] = before[i] && before[static_cast<std::size_t>(c.node)];
  }
  return before;
}

// By layer.
std::vector<bool> layers_that_learn(const TimingProfile& profile,
                                    const std::set<std::string>& selection) {
  std::vector<bool> learn;
  for (const LayerTiming& layer : profile.layers)
    learn.push_back(std::ranges::any_of(
        layer.weights, [&](const WeightTiming& w) { return selection.contains(w.name); }));
  return learn;
}

bool all_behind(const TailCut& cut, const std::vector<bool>& learn) {
  for (std::size_t i = 0; i < learn.size(); ++i)
    if (cut.before[i] && learn[i]) return false;
  return true;
}

}  // namespace

std::vector<TailCut> tail_cuts(const ModelDescription& model, const Graph& training) {
  const Graph graph = build_graph(model, 1);
  const auto draw = std::ranges::find_if(
      graph.nodes, [](const Node& node) { return layer_traits(node.type).draws; });
  std::vector<TailCut> cuts;
  for (const Cut& cut : cuts_of(graph)) {
    if (cut.last_node >= draw - graph.nodes.begin()) break;
    if (is_read_by_what_joins(graph, cut.value)) continue;
    std::set<std::string> backbone;
    for (const auto& layer : realize_slice(model, cut.value, cut.dims).backbone.layers)
      backbone.insert(layer.name);
    cuts.push_back({cut, elements_in_cut(cut), layers_before(backbone, training)});
  }
  return cuts;
}

double forward_before(const TailCut& cut, const TimingProfile& profile) {
  double seconds = 0;
  for (std::size_t i = 0; i < profile.layers.size(); ++i)
    if (cut.before[i]) seconds += profile.layers[i].forward;
  return seconds;
}

TailSaving best_cut(const TailTerms& terms, const TimingProfile& profile,
                    const std::set<std::string>& selection) {
  const std::vector<bool> learn = layers_that_learn(profile, selection);
  TailSaving best;
  for (const TailCut& cut : terms.cuts) {
    if (!all_behind(cut, learn)) break;
    const bool kept = cut.cut.value == terms.kept;
    if (!kept && cut.elements > terms.most_elements) continue;
    const double forward = forward_before(cut, profile);
    const double saved = forward * (1 - (kept ? terms.kept_computed : terms.computed));
    if (saved > best.seconds && saved > kLeastSaving * profile.step) best = {&cut, saved, forward};
  }
  return best;
}

const TailCut* cut_at(std::span<const TailCut> cuts, const std::string& value) {
  const auto found =
      std::ranges::find_if(cuts, [&](const TailCut& cut) { return cut.cut.value == value; });
  return found == cuts.end() ? nullptr : &*found;
}

}  // namespace moil
