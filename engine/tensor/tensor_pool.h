// The tensor pool: every tensor of a graph, when each lives, and who shares memory with whom.
//
// Specs go in with the execution orders at which they are used; merge() applies NNTrainer's
// Algorithm 1 (2022 §4): read-only views and extensions always share their target's memory,
// modify views only if the target's last order is not after the view's first. What is left are
// the owners, one memory request each. Not thread-safe.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "engine/tensor/planner.h"
#include "engine/tensor/spec.h"

namespace moil {

// Whether a use may change the data. What was only read since it was written to a swap file need
// not be written again. kAdd reads what it changes.
enum class Access : std::uint8_t { kRead, kWrite, kAdd };
constexpr bool writes(Access access) { return access != Access::kRead; }

struct TensorUse {
  int order = 0;
  Access access = Access::kWrite;
  friend bool operator<(const TensorUse& a, const TensorUse& b) { return a.order < b.order; }
};

class TensorPool {
 public:
  // Throws kInternal for a view without target, or one larger than its target.
  TensorId add(TensorSpec spec);

  // The tensor's data must be there at this order.
  void use(TensorId id, int order, Access access = Access::kWrite);
  // Lifespan M: the tensor lives at every order, between iterations too.
  void use_always(TensorId id);

  // Decides who shares memory. Call once, after the last use().
  void merge();

  // Requests are multiples of this, and so their offsets; for whoever else than the CPU needs it.
  void align(std::size_t bytes) { alignment_ = std::max(bytes, alignment_); }
  std::size_t alignment() const { return alignment_; }

  // After merge(): the tensor that owns the memory of `id` (itself if it shares nobody's).
  TensorId owner(TensorId id) const;
  bool merged_with_target(TensorId id) const { return owner(id) != id; }

  // Owners with memory in the pool (none that nobody uses), and their requests in
  // the same order. Always-living tensors have the whole range of orders.
  const std::vector<TensorId>& owners() const { return owners_; }
  const std::vector<MemoryRequest>& requests() const { return requests_; }
  // After merge(): the orders at which the memory of `id` is touched, sorted, distinct; of several
  // uses at one order the one that writes.
  const std::vector<TensorUse>& uses(TensorId id) const { return entry(owner(id)).uses; }
  std::vector<int> orders(TensorId id) const;

  const TensorSpec& spec(TensorId id) const { return entries_[static_cast<std::size_t>(id)].spec; }
  std::size_t size() const { return entries_.size(); }
  bool is_always(TensorId id) const;
  // The tensor that read-only views have the data of, whatever their shapes; kNoTensor of none.
  TensorId data_of(TensorId id) const;

 private:
  struct Entry {
    TensorSpec spec;
    std::vector<TensorUse> uses;
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
  std::size_t alignment_ = kAlignment;
};

}  // namespace moil
