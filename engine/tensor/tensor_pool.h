// The tensor pool: every tensor of a graph, when each lives, and who shares memory with whom.
//
// Specs go in with the execution orders at which they are used; merge() applies NNTrainer's
// Algorithm 1 (2022 §4): read-only views and extensions always share their target's memory,
// modify views only where the target's last order is not after the view's first. What is left are
// the owners, one memory request each. Not thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/tensor/planner.h"
#include "engine/tensor/spec.h"

namespace moil {

class TensorPool {
 public:
  // Throws kInternal for a view without target, or one larger than its target.
  TensorId add(TensorSpec spec);

  // The tensor's data must be there at this order.
  void use(TensorId id, int order);
  // Lifespan M: the tensor lives at every order, between iterations too.
  void use_always(TensorId id);

  // Decides who shares memory. Call once, after the last use().
  void merge();

  // After merge(): the tensor that owns the memory of `id` (itself where it shares nobody's).
  TensorId owner(TensorId id) const;
  bool merged_with_target(TensorId id) const { return owner(id) != id; }

  // Owners with memory in the pool (no placeholders, none that nobody uses), and their requests in
  // the same order. Always-living tensors have the whole range of orders.
  const std::vector<TensorId>& owners() const { return owners_; }
  const std::vector<MemoryRequest>& requests() const { return requests_; }
  // Orders at which the memory that `id` owns is touched, sorted, distinct.
  std::vector<int> orders(TensorId id) const;

  const TensorSpec& spec(TensorId id) const { return entries_[static_cast<std::size_t>(id)].spec; }
  std::size_t size() const { return entries_.size(); }
  bool is_always(TensorId id) const;

 private:
  struct Entry {
    TensorSpec spec;
    std::vector<int> orders;
    bool always = false;
    TensorId parent = kNoTensor;  // union-find; itself for an owner
  };
  Entry& entry(TensorId id) { return entries_[static_cast<std::size_t>(id)]; }
  const Entry& entry(TensorId id) const { return entries_[static_cast<std::size_t>(id)]; }
  void join(TensorId view, TensorId target);

  std::vector<Entry> entries_;
  std::vector<TensorId> owners_;
  std::vector<MemoryRequest> requests_;
  int last_order_ = 0;
};

}  // namespace moil
