// Outputs that are made again before backward reads them, instead of being kept since F
// (recomputation; Chen et al., 2016, arXiv:1604.06174).
//
// A gap in a tensor's life may be filled by keeping it, by swapping it, or by an instruction F'
// that makes it anew: a second tensor, with a life of its own. F' reads what F read, and is of the
// same bits: random numbers are a function of the step, and batch statistics are those that F
// saved.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/model/graph.h"
#include "engine/plan/program.h"

namespace moil {

// What may be made again in a program that makes nothing again. Refers to its arguments, which
// outlive it.
class Recomputation {
 public:
  Recomputation(const Graph& graph, const std::vector<NodePlan>& nodes, const Program& program,
                const TensorPool& pool);

  // Nodes whose outputs backward reads and F can make again: on the CPU, and F changes nothing that
  // outlives the step, or finds it saved.
  std::vector<int> candidates() const;
  // The node and those whose outputs F' of it reads, if these are not kept for backward anyway.
  std::set<int> needed(int node) const;

 private:
  bool may_run_again(int node) const;
  bool makes_any_of(int node, const std::set<TensorId>& values) const;

  const Graph& graph_;
  const std::vector<NodePlan>& nodes_;
  const TensorPool& pool_;
  std::set<TensorId> read_;        // in backward
  std::map<TensorId, int> maker_;  // the node whose F writes a value
};

// Puts F' of those of `layers` that are candidates before the first instruction that needs it, each
// behind F' of what it reads itself, and adds what it writes to the pool.
void make_again(const Graph& graph, const std::vector<NodePlan>& nodes,
                const std::set<std::string>& layers, Program& program, TensorPool& pool);

}  // namespace moil
