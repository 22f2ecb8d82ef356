#include "engine/elastic/backward_samples.h"

#include <cmath>
#include <random>

#include "engine/elastic/predicted_step.h"

namespace moil {
namespace {

constexpr int kLastLayers = 2;
// Of the parts of training everything, what is selected; and with how many at most the last kernel
// is left out, too.
constexpr double kSelected[] = {0.05, 0.12, 0.2, 0.35, 0.5, 0.7, 0.85};
constexpr double kKernelless = 0.12;

using Samples = std::vector<std::set<std::string>>;

std::size_t weights_of(const TimingProfile& profile) {
  std::size_t weights = 0;
  for (const LayerTiming& layer : profile.layers) weights += layer.weights.size();
  return weights;
}

// A classifier's kernel takes half alone of what it takes among much else.
void add_kernelless(std::set<std::string> trained, const TimingProfile& parts, Samples& samples) {
  const bool was_trained = trained.erase(last_kernel(parts)->name) > 0;
  if (was_trained && !trained.empty()) samples.push_back(std::move(trained));
}

// The last layer and the last two, with the last kernel and without. Returns the parts of the
// longest.
double add_last_layers(const TimingProfile& parts, const Graph& graph, Samples& samples) {
  std::set<std::string> trained;
  int layers = 0;
  for (auto layer = parts.layers.rbegin(); layer != parts.layers.rend() && layers < kLastLayers;
       ++layer) {
    if (layer->weights.empty()) continue;
    ++layers;
    for (const WeightTiming& w : layer->weights) trained.insert(w.name);
    samples.push_back(trained);
    add_kernelless(trained, parts, samples);
  }
  return PredictedStep(parts, graph, trained).parts();
}

// The last kernel is selected whatever comes: without it they are known, too.
ElasticProblem random_problem(const TimingProfile& parts) {
  ElasticProblem problem = elastic_problem(parts);
  const std::string& kernel = last_kernel(parts)->name;
  std::mt19937 random(1);
  constexpr double kMuch = 1e6, kRandoms = 4294967296.0;
  for (std::size_t e = 0; e < problem.entries.size(); ++e) {
    ElasticEntry& entry = problem.entries[e];
    if (!entry.selectable) continue;
    const double uniform = (static_cast<double>(random()) + 0.5) / kRandoms;
    entry.importance = problem.weights[e] == kernel ? kMuch : -std::log(uniform);
  }
  return problem;
}

// Those that are longer than the last layers.
void add_selected(const TimingProfile& parts, const Graph& graph, double last_layers,
                  Samples& samples) {
  const double whole = backward_parts(parts);
  const ElasticProblem problem = random_problem(parts);
  for (const double share : kSelected) {
    std::set<std::string> trained =
        problem.named(select_tensors(problem.entries, share * whole).entries);
    if (PredictedStep(parts, graph, trained).parts() <= last_layers) continue;
    samples.push_back(trained);
    if (share <= kKernelless) add_kernelless(std::move(trained), parts, samples);
  }
}

}  // namespace

std::vector<std::set<std::string>> backward_samples(const TimingProfile& parts,
                                                    const Graph& graph) {
  Samples samples;
  if (!last_kernel(parts)) return samples;
  const double last_layers = add_last_layers(parts, graph, samples);
  add_selected(parts, graph, last_layers, samples);
  const std::size_t all = weights_of(parts);
  std::erase_if(samples, [&](const std::set<std::string>& s) { return s.size() == all; });
  return samples;
}

}  // namespace moil
