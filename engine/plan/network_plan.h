// From a graph to a plan: which steps run in which order, and where every tensor lies.
//
// Everything is known before the first step (NNTrainer 2022 §3, 2024 §3): what each layer declares
// (layers/layer.h) becomes tensors with execution orders, the tensor pool decides who shares
// memory, and a planner gives addresses. Steps that nobody needs are not in the plan: no CG of what
// is not trained, no CD if nothing before it is trained, no AG in the middle of an accumulated
// batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/device/assignment.h"
#include "engine/model/graph.h"
#include "engine/plan/processor_plan.h"
#include "engine/plan/program.h"
#include "engine/tensor/residency.h"
#include "engine/tensor/tensor_pool.h"

namespace moil {

class KernelSelector;

struct PlanOptions {
  bool training = false;
  std::set<std::string> trainable;  // "LAYER.WEIGHT"; empty: nothing trains
  // Clipping needs every gradient before the first is applied.
  bool clip_by_global_norm = false;
  int optimizer_states = 0;   // tensors per trained weight
  bool row_gradients = true;  // whoever applies gradients knows those of rows
  int micro_batches = 1;      // a step; of several, gradients live always and add up
  // False: every tensor has memory of its own (the reference that sharing is tested against).
  bool share_memory = true;
  SwapOptions swap;  // training only
  // Training: layers whose outputs are made again instead of kept (plan/again.h). Others than its
  // candidates are let be.
  std::set<std::string> again = {};
  bool narrow_saved = false;  // training: values wait for backward in bf16 (plan/narrowing.h)
  // Inference: convolutions keep their weights packed as their kernels want them: up to four times
  // as large (Winograd). False: they pack in every pass.
  bool pack_convolutions = true;
  // Training: workspaces may grow the plan to this, for faster kernels; never above what the
  // leanest ones need otherwise.
  std::size_t memory_budget_bytes = 0;
  // The processors besides the CPU, ids from 1 on, and the steps that each computes, by layer;
  // steps that it has no way of computing stay with the CPU.
  std::vector<std::shared_ptr<Processor>> processors = {};
  Assignment assignment = {};
  // Whether they may apply gradients, too: the optimizer is one that they have.
  bool updates_elsewhere = true;
};

struct NetworkPlan {
  bool trains = false;  // PlanOptions::training
  TensorPool pool;
  std::vector<NodePlan> nodes;
  std::vector<TensorId> values;  // data tensor of each value
  Program program;
  Iteration iteration;      // what swap knows of it
  std::vector<Stay> stays;  // in memory; one an owner of the pool if nothing is swapped
  MemoryPlan memory;        // of the stays
  std::size_t lower_bound_bytes = 0;
  // One for each of PlanOptions::processors; empty for one that computes nothing.
  std::vector<ProcessorPlan> processors;
  // Steps that another processor's driver refused, with its words; the CPU computes them.
  std::vector<std::string> refused;

  // The program's last place; 0 if it is empty.
  int last_order() const { return iteration.last_order; }
  // The stay that holds the tensor at an order; none if it is not in memory.
  std::optional<std::size_t> stay_at(TensorId id, int order) const;
  // Where it lies then, in the pool.
  std::optional<std::size_t> offset_at(TensorId id, int order) const;
  bool swaps() const { return any_swapped(stays); }
  // What a step moves.
  SwapTraffic traffic() const { return moil::traffic(pool, stays, iteration.passes); }
  // The stays of an owner: from the first of the pair, before the second.
  std::pair<std::size_t, std::size_t> stays_of(TensorId owner) const;

  std::vector<std::size_t> first_stays;  // by tensor: of an owner, the index of its first stay
};

// Throws what the layers throw; kInvalidArgument for a trained weight that does not exist.
[[nodiscard]] NetworkPlan plan_network(const Graph& graph, const PlanOptions& options,
                                       KernelSelector& kernels);

// The same with the kernels that need the least workspace, measuring none: what plan_network()
// takes at least, and at most if that is above PlanOptions::memory_budget_bytes.
[[nodiscard]] NetworkPlan plan_lean(const Graph& graph, const PlanOptions& options,
                                    KernelSelector& kernels);

// Live bytes by kind at one order, and the order at which their sum is largest.
std::map<TensorKind, std::size_t> live_bytes(const NetworkPlan& plan, int order);
int peak_order(const NetworkPlan& plan);

}  // namespace moil
