#include "engine/device/schedule_cost.h"

#include <algorithm>
#include <map>

#include "base/index.h"
#include "engine/device/hand_over.h"

namespace moil {
namespace {

ProcessorId processor_of(const Schedule& schedule, const SelectionTouch& touch) {
  return schedule[at(touch.layer)][at(static_cast<int>(touch.pass))];
}

// Which tensors each layer touches.
std::vector<std::vector<std::size_t>> tensors_touched(const SelectionProblem& problem) {
  std::vector<std::vector<std::size_t>> of_layer(problem.layers.size());
  for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
    for (const SelectionTouch& touch : problem.tensors[t].touches) {
      if (touch.layer < 0) continue;
      auto& list = of_layer[at(touch.layer)];
      if (list.empty() || list.back() != t) list.push_back(t);
    }
  }
  return of_layer;
}

// Calls tell(touch, transfer, previous layer) of every transfer of contents between a processor and
// the host, as which the other processors count. Two iterations, of which the second counts: what
// persists is then where the first one left it.
template <class Who, class Tell>
void each_transfer(const SelectionTensor& tensor, ProcessorId processor, bool shares_memory,
                   const Who& who, const Tell& tell) {
  HandOver state(1, shares_memory);
  int last_layer = -1;
  for (const bool counts : {false, true}) {
    if (!tensor.persistent) state.retire(0);
    for (const SelectionTouch& touch : tensor.touches) {
      const bool is_its = touch.layer >= 0 && who(touch) == processor;
      const Move move = state.touch({0, touch.writes, touch.fresh}, is_its);
      if (counts && move.transfer != Transfer::kNone && move.contents)
        tell(touch, move.transfer, last_layer);
      last_layer = touch.layer;
    }
  }
}

}  // namespace

std::vector<LayerSchedule> combinations_of(const SelectionLayer& layer) {
  std::vector<LayerSchedule> all = {LayerSchedule{}};
  for (int p = 0; p < kPasses; ++p) {
    if (!layer.passes[at(p)]) continue;
    const std::size_t before = all.size();
    for (ProcessorId id = kSecondProcessor; id < kMostProcessors; ++id) {
      if (!(*layer.passes[at(p)])[id]) continue;
      for (std::size_t c = 0; c < before; ++c) {
        all.push_back(all[c]);
        all.back()[at(p)] = id;
      }
    }
  }
  return all;
}

double pass_seconds(const SelectionLayer& layer, const LayerSchedule& schedule) {
  double seconds = 0;
  for (int p = 0; p < kPasses; ++p) {
    const auto& pass = layer.passes[at(p)];
    if (pass) seconds += (*pass)[schedule[at(p)]].value();
  }
  return seconds;
}

TensorTransfers transfers_of(const SelectionTensor& tensor, const std::vector<TransferCosts>& costs,
                             const std::function<ProcessorId(const SelectionTouch&)>& who) {
  TensorTransfers sum;
  for (ProcessorId id = kSecondProcessor; id <= costs.size(); ++id) {
    const TransferCosts& its = costs[at(id - 1)];
    each_transfer(tensor, id, its.shares_memory, who,
                  [&](const SelectionTouch& touch, Transfer transfer, int last_layer) {
                    const TransferCost& cost = transfer == Transfer::kTake ? its.take : its.give;
                    sum.seconds += cost.of(tensor.bytes);
                    const bool within = touch.layer >= 0 && touch.layer == last_layer;
                    (within ? sum.within : sum.between) += 1;
                  });
  }
  return sum;
}

std::vector<ScheduledTransfer> transfers_in(const SelectionProblem& problem,
                                            const Schedule& schedule) {
  std::vector<ScheduledTransfer> all;
  const auto who = [&](const SelectionTouch& touch) { return processor_of(schedule, touch); };
  for (const SelectionTensor& tensor : problem.tensors)
    for (ProcessorId id = kSecondProcessor; id <= problem.transfers.size(); ++id)
      each_transfer(tensor, id, problem.transfers[at(id - 1)].shares_memory, who,
                    [&](const SelectionTouch& touch, Transfer transfer, int) {
                      all.push_back({touch.layer, touch.pass, id, transfer == Transfer::kTake,
                                     tensor.name, tensor.bytes});
                    });
  return all;
}

ScheduleCost cost_of(const SelectionProblem& problem, const Schedule& schedule) {
  ScheduleCost cost;
  for (std::size_t i = 0; i < problem.layers.size(); ++i)
    cost.pass_seconds += pass_seconds(problem.layers[i], schedule[i]);
  for (const SelectionTensor& tensor : problem.tensors) {
    const TensorTransfers transfers =
        transfers_of(tensor, problem.transfers,
                     [&](const SelectionTouch& touch) { return processor_of(schedule, touch); });
    cost.transfer_seconds += transfers.seconds;
    cost.transfers_within += transfers.within;
    cost.transfers_between += transfers.between;
  }
  return cost;
}

std::vector<std::vector<SelectionTensor>> tensors_by_layer(const SelectionProblem& problem) {
  std::vector<std::vector<SelectionTensor>> own(problem.layers.size());
  for (const SelectionTensor& tensor : problem.tensors) {
    std::map<int, SelectionTensor> parts;
    for (const SelectionTouch& touch : tensor.touches) {
      if (touch.layer < 0) continue;
      SelectionTensor& part = parts[touch.layer];
      part.bytes = tensor.bytes;
      part.persistent = tensor.persistent;
      part.touches.push_back(touch);
    }
    for (auto& [layer, part] : parts) own[at(layer)].push_back(std::move(part));
  }
  return own;
}

void improve(const SelectionProblem& problem, Schedule& schedule) {
  const auto touched = tensors_touched(problem);
  const auto cost_around = [&](std::size_t layer) {
    double seconds = pass_seconds(problem.layers[layer], schedule[layer]);
    for (const std::size_t t : touched[layer])
      seconds += transfers_of(problem.tensors[t], problem.transfers, [&](const SelectionTouch& s) {
                   return processor_of(schedule, s);
                 }).seconds;
    return seconds;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t layer = 0; layer < schedule.size(); ++layer) {
      LayerSchedule best = schedule[layer];
      double least = cost_around(layer);
      for (const LayerSchedule& combination : combinations_of(problem.layers[layer])) {
        schedule[layer] = combination;
        const double seconds = cost_around(layer);
        // By more than rounding, or two equal ones would take turns for ever.
        if (seconds >= least * (1 - 1e-12)) continue;
        least = seconds;
        best = combination;
        changed = true;
      }
      schedule[layer] = best;
    }
  }
}

}  // namespace moil
