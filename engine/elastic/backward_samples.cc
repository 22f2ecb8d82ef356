#include "engine/elastic/backward_samples.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "engine/elastic/predicted_step.h"

namespace moil {
namespace {

// Last layers that have weights: as many as add up to so much of a backward pass, and two at least.
constexpr int kFewestLayers = 2, kMostLayers = 3;
constexpr double kLastLayers = 0.02;
// Of the parts of training everything, what is selected; and with how many at most the last kernel
// is left out, too; and how many differ for one length.
constexpr double kSelected[] = {0.05, 0.12, 0.2, 0.35, 0.5, 0.7, 0.85};
constexpr double kKernelless = 0.12, kDiffering = 0.5;
constexpr unsigned kOfALength = 2;

// Whose update takes so much of a backward pass.
constexpr double kLarge = 0.005;
constexpr std::size_t kMostLarge = 6;

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

// With the last kernel and without. Returns the parts of the longest.
double add_last_layers(const TimingProfile& parts, const Graph& graph, Samples& samples) {
  const double most = kLastLayers * backward_parts(parts);
  std::set<std::string> trained;
  double longest = 0;
  int layers = 0;
  for (auto layer = parts.layers.rbegin(); layer != parts.layers.rend(); ++layer) {
    if (layer->weights.empty()) continue;
    for (const WeightTiming& w : layer->weights) trained.insert(w.name);
    const double seconds = PredictedStep(parts, graph, trained).parts();
    if (++layers > kFewestLayers && (layers > kMostLayers || seconds > most)) break;
    longest = seconds;
    samples.push_back(trained);
    add_kernelless(trained, parts, samples);
  }
  return longest;
}

// The last kernel is selected whatever comes: without it they are known, too.
ElasticProblem random_problem(const TimingProfile& parts, unsigned seed) {
  ElasticProblem problem = elastic_problem(parts);
  const std::string& kernel = last_kernel(parts)->name;
  std::mt19937 random(seed);
  constexpr double kMuch = 1e6, kRandoms = 4294967296.0;
  for (std::size_t e = 0; e < problem.entries.size(); ++e) {
    ElasticEntry& entry = problem.entries[e];
    if (!entry.selectable) continue;
    const double uniform = (static_cast<double>(random()) + 0.5) / kRandoms;
    entry.importance = problem.weights[e] == kernel ? kMuch : -std::log(uniform);
  }
  return problem;
}

// Where they are longer than the last layers.
void add_selected(const TimingProfile& parts, const Graph& graph, const ElasticProblem& problem,
                  double share, double last_layers, Samples& samples) {
  std::set<std::string> trained =
      problem.named(select_tensors(problem.entries, share * backward_parts(parts)).entries);
  if (PredictedStep(parts, graph, trained).parts() <= last_layers) return;
  samples.push_back(trained);
  if (share <= kKernelless) add_kernelless(std::move(trained), parts, samples);
}

}  // namespace

std::vector<std::set<std::string>> backward_samples(const TimingProfile& parts,
                                                    const Graph& graph) {
  Samples samples;
  if (!last_kernel(parts)) return samples;
  const double last_layers = add_last_layers(parts, graph, samples);
  for (unsigned seed = 1; seed <= kOfALength; ++seed) {
    const ElasticProblem problem = random_problem(parts, seed);
    for (const double share : kSelected) {
      if (seed == 1 || share <= kDiffering)
        add_selected(parts, graph, problem, share, last_layers, samples);
    }
  }
  const std::size_t all = weights_of(parts);
  std::erase_if(samples, [&](const std::set<std::string>& s) { return s.size() == all; });
  return samples;
}

std::vector<std::string> large_weights(const TimingProfile& parts) {
  std::vector<const WeightTiming*> large;
  const double least = kLarge * backward_parts(parts);
  for (const LayerTiming& layer : parts.layers) {
    for (const WeightTiming& w : layer.weights) {
      if (w.apply >= least) large.push_back(&w);
    }
  }
  std::ranges::stable_sort(large, std::ranges::greater(), &WeightTiming::apply);
  std::vector<std::string> names;
  for (const WeightTiming* w : large) names.push_back(w->name);
  names.resize(std::min(names.size(), kMostLarge));
  return names;
}

}  // namespace moil
