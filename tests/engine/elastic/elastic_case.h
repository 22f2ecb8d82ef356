// Small random networks whose times and importance are made up, and what is the best selection on
// their graph.
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/elastic/timing_profile.h"
#include "engine/model/graph.h"

namespace moil::test {

// A network to be trained, as ElasticTrainer knows it. Times are whole seconds: a selector with a
// part a second rounds nothing.
struct ElasticCase {
  Graph graph;  // prepared, with its loss
  TimingProfile profile;
  std::map<std::string, double> importance;  // of every weight; some of it below 0
  double step_seconds = 0;                   // what a step may take, forward pass included

  double backward_seconds() const { return step_seconds - profile.forward; }
};

// The model as it is trained; times, importance and what a step may take are random.
ElasticCase random_times(const ModelDescription& model, unsigned seed);

// kLine: chains, and sums with what was skipped. kBranches: between them sums and concatenations of
// up to three branches with weights of their own. 7 weights at least, around ten as a rule.
enum class Shape { kLine, kBranches };
ElasticCase random_case(Shape shape, unsigned seed);

// What select_tensors() chooses.
struct Chosen {
  std::set<std::string> selection;
  double seconds = 0;  // of the backward pass, as the selector sees it
};
Chosen chosen(const ElasticCase& c);

double importance_of(const ElasticCase& c, const std::set<std::string>& selection);

// The importance of the best selection whose step fits: of every subset, by predicted_step().
double best_importance(const ElasticCase& c);

}  // namespace moil::test
