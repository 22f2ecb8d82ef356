#include "engine/elastic/selection_memory.h"

#include <algorithm>

namespace moil {
namespace {

// Of a selection's importance, what may be given up for memory.
constexpr double kDispensable = 0.05;

double importance_of(const std::set<std::string>& selection,
                     const std::map<std::string, double>& importance) {
  double sum = 0;
  for (const std::string& name : selection) sum += std::max(0.0, importance.at(name));
  return sum;
}

// The selected weights of the layer nearest the input.
std::set<std::string> deepest_layer_of(const std::set<std::string>& selection,
                                       const TimingProfile& profile) {
  std::set<std::string> names;
  for (const LayerTiming& layer : profile.layers) {
    for (const WeightTiming& w : layer.weights) {
      if (selection.contains(w.name)) names.insert(w.name);
    }
    if (!names.empty()) break;
  }
  return names;
}

}  // namespace

std::size_t most_selection_bytes(double speedup_ratio, std::size_t full_planned_bytes) {
  return static_cast<std::size_t>((15 + speedup_ratio) / 16 *
                                  static_cast<double>(full_planned_bytes));
}

std::set<std::string> lightened(
    std::set<std::string> selection, const TimingProfile& profile,
    const std::map<std::string, double>& importance, std::size_t most_bytes,
    const std::function<std::size_t(const std::set<std::string>&)>& bytes_of) {
  double dispensable = kDispensable * importance_of(selection, importance);
  while (bytes_of(selection) > most_bytes) {
    const std::set<std::string> deepest = deepest_layer_of(selection, profile);
    dispensable -= importance_of(deepest, importance);
    if (dispensable <= 0 || deepest.size() == selection.size()) break;
    for (const std::string& name : deepest) selection.erase(name);
  }
  return selection;
}

}  // namespace moil
