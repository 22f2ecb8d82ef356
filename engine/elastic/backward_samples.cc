#include "engine/elastic/backward_samples.h"

#include <cmath>
#include <random>

#include "engine/elastic/predicted_step.h"

namespace moil {
namespace {

// Of the parts of training everything: how many last layers do as a short backward pass, and what
// is selected for the longer ones.
constexpr double kLastLayers = 0.1;
constexpr double kSelected[] = {0.2, 0.35, 0.5, 0.7, 0.85};

using Samples = std::vector<std::set<std::string>>;

std::size_t weights_of(const TimingProfile& profile) {
  std::size_t weights = 0;
  for (const LayerTiming& layer : profile.layers) weights += layer.weights.size();
  return weights;
}

// A classifier's kernel takes half alone of what it takes among much else.
void add_kernelless(std::set<std::string> trained, const TimingProfile& parts, Samples& samples) {
  trained.erase(last_kernel(parts)->name);
  if (!trained.empty()) samples.push_back(std::move(trained));
}

// The last layer, the last two, and so many that they take a tenth: with the last kernel and
// without.
void add_last_layers(const TimingProfile& parts, const Graph& graph, Samples& samples) {
  const double whole = backward_parts(parts);
  std::set<std::string> trained;
  std::size_t layers = 0;
  bool is_enough = false;
  for (auto layer = parts.layers.rbegin(); layer != parts.layers.rend() && !is_enough; ++layer) {
    if (layer->weights.empty()) continue;
    for (const WeightTiming& w : layer->weights) trained.insert(w.name);
    const double share = PredictedStep(parts, graph, trained).parts() / whole;
    is_enough = share >= kLastLayers;
    if (++layers > 2 && !is_enough) continue;
    samples.push_back(trained);
    add_kernelless(trained, parts, samples);
  }
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

void add_selected(const TimingProfile& parts, Samples& samples) {
  const double whole = backward_parts(parts);
  const ElasticProblem problem = random_problem(parts);
  for (const double share : kSelected) {
    std::set<std::string> trained =
        problem.named(select_tensors(problem.entries, share * whole).entries);
    if (!trained.empty()) samples.push_back(std::move(trained));
  }
}

}  // namespace

std::vector<std::set<std::string>> backward_samples(const TimingProfile& parts,
                                                    const Graph& graph) {
  Samples samples;
  if (!last_kernel(parts)) return samples;
  add_last_layers(parts, graph, samples);
  add_selected(parts, samples);
  const std::size_t all = weights_of(parts);
  std::erase_if(samples, [&](const std::set<std::string>& s) { return s.size() == all; });
  return samples;
}

}  // namespace moil
