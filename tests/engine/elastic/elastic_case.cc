#include "tests/engine/elastic/elastic_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include "engine/plan/backward_needs.h"
#include "engine/train/trainer.h"
#include "tests/engine/model/models.h"

namespace moil::test {
namespace {

constexpr std::int64_t kWidth = 4;
constexpr int kEnoughWeights = 6;

// Has fully connected layers: [N, 4] between blocks.
class RandomElasticModel {
 public:
  RandomElasticModel(Shape shape, unsigned seed)
      : shape_(shape), random_(seed), builder_({kWidth}) {}

  ModelDescription build() {
    while (weights_ < kEnoughWeights) block();
    dense(3);
    return builder_.model();
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  void dense(std::int64_t units) {
    const bool bias = below(3) == 0;
    builder_.layer("fully_connected", {{"units", units}, {"bias", bias}});
    weights_ += bias ? 2 : 1;
  }

  void dense_block() {
    dense(kWidth);
    if (below(5) == 0) {
      builder_.norm();
      weights_ += 2;
    }
    if (below(2) == 0) builder_.layer("tanh");
  }

  void block() {
    if (shape_ == Shape::kBranches && below(4) != 0) return branches();
    const bool skips = below(2) == 0;
    const std::string start = builder_.last();
    dense_block();
    if (skips) builder_.layer("add", {}, {builder_.last(), start});
  }

  void branches() {
    const std::string start = builder_.last();
    const bool joined = below(2) == 0;
    std::vector<std::string> ends;
    for (unsigned branches = 2 + below(2); branches > 0; --branches) {
      builder_.go_back(start);
      for (unsigned blocks = below(4) == 0 ? 2 : 1; blocks > 0; --blocks) dense_block();
      ends.push_back(builder_.last());
    }
    builder_.layer(joined ? "concat" : "add", {}, ends);
    if (joined) dense(kWidth);
  }

  const Shape shape_;
  std::mt19937 random_;
  ModelBuilder builder_;
  int weights_ = 0;
};

class RandomTimes {
 public:
  explicit RandomTimes(unsigned seed) : random_(seed) {}

  TimingProfile profile(const Graph& graph, const std::set<std::string>& trainable) {
    const BackwardNeeds needs = backward_needs(graph, trainable);
    TimingProfile profile;
    for (const Node& node : graph.nodes)
      profile.layers.push_back(layer(node, trainable, needs.derivative_of_inputs(node)));
    for (const LayerTiming& layer : profile.layers) profile.forward += layer.forward;
    profile.step = predicted_step(profile, graph, trainable);
    return profile;
  }

  double seconds(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  // A weight's: three in four are worth something.
  double importance() { return std::normal_distribution<double>(1, 1.5)(random_); }

 private:
  LayerTiming layer(const Node& node, const std::set<std::string>& trainable, bool passes) {
    LayerTiming layer{node.name, seconds(9), 0, {}};
    if (passes) layer.pass = seconds(node.weights.empty() ? 3 : 9);
    for (const WeightSpec& spec : node.weights) {
      const std::string name = weight_name(node, spec);
      if (trainable.contains(name))
        layer.weights.push_back({name, seconds(spec.name == "weight" ? 14 : 6)});
    }
    return layer;
  }

  std::mt19937 random_;
};

}  // namespace

ElasticCase random_times(const ModelDescription& model, unsigned seed) {
  const TrainingPlanInput input = training_plan_input(model, nullptr, {});
  RandomTimes times(seed);
  ElasticCase c;
  c.graph = build_graph(input.model, input.options.batch);
  c.profile = times.profile(c.graph, input.options.plan.trainable);
  for (const std::string& name : input.options.plan.trainable)
    c.importance[name] = times.importance();
  c.step_seconds = c.profile.forward;
  c.step_seconds += times.seconds(static_cast<int>(c.profile.step - c.profile.forward));
  return c;
}

ElasticCase random_case(Shape shape, unsigned seed) {
  return random_times(RandomElasticModel(shape, seed).build(), seed);
}

Chosen chosen(const ElasticCase& c) {
  ElasticProblem problem = elastic_problem(c.profile);
  for (std::size_t e = 0; e < problem.entries.size(); ++e) {
    if (problem.entries[e].selectable)
      problem.entries[e].importance = c.importance.at(problem.weights[e]);
  }
  const double seconds = c.backward_seconds();
  const auto found = select_tensors(problem.entries, seconds,
                                    {.resolution = std::max(1, static_cast<int>(seconds))});
  return {problem.named(found.entries), found.seconds};
}

double importance_of(const ElasticCase& c, const std::set<std::string>& selection) {
  double sum = 0;
  for (const std::string& name : selection) sum += c.importance.at(name);
  return sum;
}

double best_importance(const ElasticCase& c) {
  std::vector<std::pair<std::string, double>> worth;
  for (const auto& weight : c.importance) {
    if (weight.second > 0) worth.push_back(weight);
  }
  // Most important first: the first that fits is the best.
  std::vector<std::pair<double, unsigned>> subsets;
  for (unsigned set = 0; set < 1U << worth.size(); ++set) {
    double sum = 0;
    for (unsigned left = set; left != 0; left &= left - 1)
      sum += worth[static_cast<std::size_t>(std::countr_zero(left))].second;
    subsets.emplace_back(sum, set);
  }
  std::sort(subsets.rbegin(), subsets.rend());
  for (const auto& [importance, set] : subsets) {
    std::set<std::string> selection;
    for (std::size_t i = 0; i < worth.size(); ++i) {
      if (set >> i & 1) selection.insert(worth[i].first);
    }
    if (predicted_step(c.profile, c.graph, selection) <= c.step_seconds) return importance;
  }
  return 0;
}

}  // namespace moil::test
