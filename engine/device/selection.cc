#include "engine/device/selection.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/index.h"
#include "engine/device/path_selection.h"
#include "engine/device/schedule_cost.h"

namespace moil {
namespace {

Schedule all_on_cpu(const SelectionProblem& problem) { return Schedule(problem.layers.size()); }

// The fastest from `first` on; the CPU if none of them has a way.
ProcessorId fastest_of(const PassTimes& times, ProcessorId first) {
  ProcessorId best = kCpu;
  double least = std::numeric_limits<double>::infinity();
  for (ProcessorId id = first; id < times.size(); ++id) {
    if (!times[id] || *times[id] >= least) continue;
    least = *times[id];
    best = id;
  }
  return best;
}

// Every pass by itself.
Schedule each_pass(const SelectionProblem& problem, ProcessorId first) {
  Schedule schedule = all_on_cpu(problem);
  for (std::size_t i = 0; i < schedule.size(); ++i)
    for (int p = 0; p < kPasses; ++p)
      if (const auto& pass = problem.layers[i].passes[at(p)])
        schedule[i][at(p)] = fastest_of(*pass, first);
  return schedule;
}

// Algorithm 1 (§3.2). The transfers of a combination are those of the layer's tensors as if nobody
// else touched them.
Schedule layer_wise(const SelectionProblem& problem) {
  const std::vector<std::vector<SelectionTensor>> own = tensors_by_layer(problem);
  Schedule schedule = all_on_cpu(problem);
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (const LayerSchedule& combination : combinations_of(problem.layers[i])) {
      double seconds = pass_seconds(problem.layers[i], combination);
      for (const SelectionTensor& tensor : own[i])
        seconds += transfers_of(tensor, problem.transfers, [&](const SelectionTouch& touch) {
                     return combination[at(static_cast<int>(touch.pass))];
                   }).seconds;
      if (seconds >= least) continue;
      least = seconds;
      schedule[i] = combination;
    }
  }
  return schedule;
}

// The cheapest of the other methods' and of the search over the whole, made cheaper by changing one
// layer at a time while that helps.
Schedule cheapest_path(const SelectionProblem& problem) {
  PathSearch search(problem, kMostStates);
  Schedule best = search.run();
  if (search.is_exact()) return best;
  double least = cost_of(problem, best).seconds();
  for (const SelectionMethod method : kSelectionMethods) {
    if (method == SelectionMethod::kPath) continue;
    const Schedule other = select(problem, method);
    const double seconds = cost_of(problem, other).seconds();
    if (seconds >= least) continue;
    least = seconds;
    best = other;
  }
  improve(problem, best);
  return best;
}

}  // namespace

char letter_of(ProcessorId id) {
  return id == kCpu ? 'C' : id == kSecondProcessor ? 'G' : static_cast<char>('0' + id);
}

std::string to_string(const SelectionLayer& layer, const LayerSchedule& schedule) {
  std::string text;
  for (int p = 0; p < kPasses; ++p)
    if (layer.passes[at(p)]) text += letter_of(schedule[at(p)]);
  return text;
}

std::string_view to_string(SelectionMethod method) {
  switch (method) {
    case SelectionMethod::kCpu:
      return "cpu";
    case SelectionMethod::kElsewhere:
      return "opencl";
    case SelectionMethod::kStepWise:
      return "step_wise";
    case SelectionMethod::kLayerWise:
      return "layer_wise";
    case SelectionMethod::kPath:
      return "path";
  }
  return "?";
}

SelectionMethod selection_method(std::string_view name) {
  std::string known;
  for (const SelectionMethod method : kSelectionMethods) {
    if (to_string(method) == name) return method;
    known += (known.empty() ? "" : ", ") + std::string(to_string(method));
  }
  throw Error(ErrorCode::kInvalidArgument,
              "unknown selection \"" + std::string(name) + "\"; known: " + known);
}

Schedule select(const SelectionProblem& problem, SelectionMethod method) {
  switch (method) {
    case SelectionMethod::kCpu:
      return all_on_cpu(problem);
    case SelectionMethod::kElsewhere:
      return each_pass(problem, kSecondProcessor);
    case SelectionMethod::kStepWise:
      return each_pass(problem, kCpu);
    case SelectionMethod::kLayerWise:
      return layer_wise(problem);
    case SelectionMethod::kPath:
      return cheapest_path(problem);
  }
  return all_on_cpu(problem);
}

}  // namespace moil
