#include "engine/elastic/selection_fill.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "engine/graph/backward_needs.h"

namespace moil {
namespace {

using Fits = std::function<bool(const std::set<std::string>&)>;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "selection fill: " + what);
}

// A weight of the profile.
struct Tensor {
  std::size_t layer = 0, weight = 0;
};

// predicted_step() of a selection that grows: what a weight would add costs a look at the layers
// where it changes something, not at the graph.
class GrowingStep {
 public:
  GrowingStep(const TimingProfile& profile, const Graph& graph,
              const std::set<std::string>& selection)
      : profile_(profile), readers_(graph.nodes.size()) {
    const BackwardNeeds needs = backward_needs(graph, selection);
    std::size_t found = 0;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const int v : graph.nodes[i].outputs) {
        for (const Consumer& c : graph.values[static_cast<std::size_t>(v)].consumers)
          readers_[i].push_back(static_cast<std::size_t>(c.node));
      }
      passes_.push_back(needs.derivative_of_inputs(graph.nodes[i]));
      learns_.emplace_back();
      for (const WeightTiming& w : profile.layers.at(i).weights) {
        learns_[i].push_back(selection.contains(w.name));
        found += learns_[i].back() ? 1 : 0;
      }
      pass_seconds_.push_back(profile.layers[i].pass_seconds(learns_[i]));
    }
    if (found != selection.size()) fail("a selected weight is not in the timing profile");
  }

  bool learns(Tensor t) const { return learns_[t.layer][t.weight]; }

  double seconds() const {
    double seconds = profile_.forward;
    for (std::size_t i = 0; i < learns_.size(); ++i) {
      seconds += profile_.layers[i].update_seconds(learns_[i]);
      if (passes_[i]) seconds += pass_seconds_[i];
    }
    return seconds;
  }

  // What passing the error takes more where this layer is to learn.
  double way_seconds(std::size_t layer) const {
    double seconds = 0;
    for (const std::size_t i : way_to(layer)) seconds += pass_seconds_[i];
    return seconds;
  }

  // What the layer itself takes more where the weight learns.
  double own_seconds(Tensor t) const {
    const LayerTiming& layer = profile_.layers[t.layer];
    std::vector<bool> learns = learns_[t.layer];
    double seconds = -layer.update_seconds(learns);
    learns[t.weight] = true;
    seconds += layer.update_seconds(learns);
    if (passes_[t.layer]) seconds += layer.pass_seconds(learns) - pass_seconds_[t.layer];
    return seconds;
  }

  void add(Tensor t) {
    for (const std::size_t i : way_to(t.layer)) passes_[i] = true;
    learns_[t.layer][t.weight] = true;
    pass_seconds_[t.layer] = profile_.layers[t.layer].pass_seconds(learns_[t.layer]);
  }

 private:
  // The layers that the error does not pass, and would have to for this one to learn.
  std::vector<std::size_t> way_to(std::size_t layer) const {
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

  const TimingProfile& profile_;
  // By layer:
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<std::vector<bool>> learns_;  // and weight of the profile
  std::vector<double> pass_seconds_;       // where the error passes it
  std::vector<bool> passes_;               // the error passes it
};

class Fill {
 public:
  Fill(const TimingProfile& profile, const Graph& graph,
       const std::map<std::string, double>& importance, const std::set<std::string>& selection,
       double step_seconds)
      : profile_(profile),
        most_(step_seconds),
        selection_(selection),
        step_(profile, graph, selection) {
    for (std::size_t i = 0; i < profile.layers.size(); ++i) {
      for (std::size_t w = 0; w < profile.layers[i].weights.size(); ++w) {
        const auto found = importance.find(name({i, w}));
        if (found == importance.end() || step_.learns({i, w})) continue;
        if (std::isnan(found->second)) fail("the importance of " + found->first + " is no number");
        candidates_.push_back({{i, w}, found->second});
      }
    }
  }

  std::set<std::string> run(const Fits& fits) {
    while (any_left()) {
      const Tensor best = take_best();
      const auto added = selection_.insert(name(best)).first;
      if (fits && !fits(selection_))
        selection_.erase(added);
      else
        step_.add(best);
    }
    return selection_;
  }

 private:
  struct Candidate {
    Tensor tensor;
    double importance = 0;
    double seconds = 0;  // that it adds
  };

  const std::string& name(Tensor t) const {
    return profile_.layers[t.layer].weights[t.weight].name;
  }

  // Drops what takes too long: it will not fit beside more either.
  bool any_left() {
    const double left = most_ - step_.seconds();
    const Candidate* last = nullptr;
    double way = 0;
    for (Candidate& c : candidates_) {
      if (!last || last->tensor.layer != c.tensor.layer) way = step_.way_seconds(c.tensor.layer);
      c.seconds = way + step_.own_seconds(c.tensor);
      last = &c;
    }
    std::erase_if(candidates_, [&](const Candidate& c) { return c.seconds > left; });
    return !candidates_.empty();
  }

  // Most importance per second first, then what has none to divide.
  Tensor take_best() {
    const auto rate = [](const Candidate& c) {
      if (c.importance <= 0) return c.importance;
      return c.seconds > 0 ? c.importance / c.seconds : HUGE_VAL;
    };
    const auto best =
        std::max_element(candidates_.begin(), candidates_.end(),
                         [&](const Candidate& a, const Candidate& b) { return rate(a) < rate(b); });
    const Tensor tensor = best->tensor;
    candidates_.erase(best);
    return tensor;
  }

  const TimingProfile& profile_;
  const double most_;
  std::set<std::string> selection_;
  GrowingStep step_;
  std::vector<Candidate> candidates_;  // in the layers' order
};

}  // namespace

std::set<std::string> fill_selection(const TimingProfile& profile, const Graph& graph,
                                     const std::map<std::string, double>& importance,
                                     const std::set<std::string>& selection, double step_seconds,
                                     const Fits& fits) {
  if (std::isnan(step_seconds)) fail("the step's time is no number");
  const Fill fill(profile, graph, importance, selection, step_seconds);
  std::set<std::string> filled = Fill(fill).run({});
  if (!fits || filled == selection || fits(filled)) return filled;
  return Fill(fill).run(fits);
}

}  // namespace moil
