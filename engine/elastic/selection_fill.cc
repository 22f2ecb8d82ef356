#include "engine/elastic/selection_fill.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "engine/elastic/predicted_step.h"

namespace moil {
namespace {

using Fits = std::function<bool(const std::set<std::string>&)>;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "selection fill: " + what);
}

using Tensor = PredictedStep::Tensor;

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
    const double parts = step_.parts(), now = step_.seconds(), left = most_ - now;
    const Candidate* last = nullptr;
    double way = 0;
    for (Candidate& c : candidates_) {
      if (!last || last->tensor.layer != c.tensor.layer) way = step_.way_parts(c.tensor.layer);
      c.seconds = step_.seconds_with(c.tensor, parts + way + step_.own_parts(c.tensor)) - now;
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
  PredictedStep step_;
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
