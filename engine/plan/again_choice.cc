#include "engine/plan/again_choice.h"

#include <algorithm>

#include "base/index.h"
#include "engine/model/work.h"
#include "engine/plan/again.h"

namespace moil {
namespace {

constexpr std::size_t kStrides = 24;  // plans that are tried from none to all

class Chooser {
 public:
  Chooser(const Graph& graph, const PlanOptions& options, std::size_t bytes,
          KernelSelector& kernels)
      : graph_(graph), options_(options), bytes_(bytes), kernels_(kernels) {}

  std::optional<std::set<std::string>> run(const std::vector<double>& forward_seconds) {
    const NetworkPlan plain = plan({});
    if (plain.memory.total_bytes <= bytes_) return std::set<std::string>{};
    const std::vector<AgainChoice> choices = again_choices(graph_, plain, forward_seconds);
    const auto first = [&](std::size_t count) {
      std::set<std::string> layers;
      for (std::size_t i = 0; i < count; ++i) layers.insert(choices[i].layer);
      return layers;
    };
    // More need not take less: what is made again all at once lives all at once.
    const std::size_t stride = std::max<std::size_t>(1, choices.size() / kStrides);
    for (std::size_t few = 0; few < choices.size(); few += stride) {
      std::size_t fits = std::min(choices.size(), few + stride), fails = few;
      if (!fit(first(fits))) continue;
      while (fits - fails > 1) {
        const std::size_t middle = (fits + fails) / 2;
        (fit(first(middle)) ? fits : fails) = middle;
      }
      return first(fits);
    }
    return std::nullopt;
  }

 private:
  NetworkPlan plan(std::set<std::string> layers) {
    options_.again = std::move(layers);
    return plan_lean(graph_, options_, kernels_);
  }
  bool fit(std::set<std::string> layers) {
    return plan(std::move(layers)).memory.total_bytes <= bytes_;
  }

  const Graph& graph_;
  PlanOptions options_;
  const std::size_t bytes_;
  KernelSelector& kernels_;
};

}  // namespace

std::vector<AgainChoice> again_choices(const Graph& graph, const NetworkPlan& plan,
                                       const std::vector<double>& forward_seconds) {
  const Recomputation recomputation(graph, plan.nodes, plan.program, plan.pool);
  std::vector<AgainChoice> choices;
  for (const int i : recomputation.candidates()) {
    AgainChoice choice{graph.nodes[at(i)].name};
    for (const TensorInfo& info : graph.output_infos(graph.nodes[at(i)]))
      choice.bytes += aligned(info.bytes());
    for (const int n : recomputation.needed(i)) choice.seconds += forward_seconds[at(n)];
    choices.push_back(choice);
  }
  std::stable_sort(choices.begin(), choices.end(), [](const AgainChoice& a, const AgainChoice& b) {
    return static_cast<double>(a.bytes) * b.seconds > static_cast<double>(b.bytes) * a.seconds;
  });
  return choices;
}

std::vector<double> forecast_forward_seconds(const Graph& graph) {
  constexpr double kMultiplyAdds = 2e10, kBytes = 8e9;  // a second, of a small machine
  std::vector<double> seconds = multiply_adds(graph);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    double bytes = 0;
    for (const TensorInfo& info : graph.input_infos(graph.nodes[i]))
      bytes += static_cast<double>(info.bytes());
    for (const TensorInfo& info : graph.output_infos(graph.nodes[i]))
      bytes += static_cast<double>(info.bytes());
    seconds[i] = seconds[i] / kMultiplyAdds + bytes / kBytes;
  }
  return seconds;
}

std::optional<std::set<std::string>> choose_again(const Graph& graph, const PlanOptions& options,
                                                  const std::vector<double>& forward_seconds,
                                                  std::size_t bytes, KernelSelector& kernels) {
  return Chooser(graph, options, bytes, kernels).run(forward_seconds);
}

}  // namespace moil
