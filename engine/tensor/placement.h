// Places memory requests one by one, in an order that the caller chooses.
//
// A request goes to a gap between the already placed requests whose lifetimes meet its own. How
// small the pool becomes depends on the order; best_fit_planner.cc looks for a good one. A Placer
// is reused between orders, so that trying many of them allocates nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/tensor/planner.h"

namespace moil {

enum class Fit {
  kLowest,  // the first gap that is large enough
  kBest,    // the smallest gap that is large enough, the lower of two
};

class Placer {
 public:
  // The requests must outlive the placer. Their bytes must be aligned and above 0.
  explicit Placer(std::span<const MemoryRequest> requests);

  // The pool's size when requests are placed in this order (indices, each once), or nothing if
  // it would exceed `limit`; offsets() is then incomplete.
  [[nodiscard]] std::optional<std::size_t> place(std::span<const int> order, Fit fit,
                                                 std::size_t limit);

  const std::vector<std::size_t>& offsets() const { return offsets_; }
  // How many placed requests were looked at since construction: the effort spent.
  std::size_t effort() const { return effort_; }

 private:
  struct Placed {
    std::size_t begin, end;
    int first, last;
  };
  std::size_t find_gap(const MemoryRequest& request, Fit fit);
  void insert(const MemoryRequest& request, std::size_t offset);

  std::span<const MemoryRequest> requests_;
  std::vector<Placed> placed_;  // by begin
  std::vector<std::size_t> offsets_;
  std::size_t effort_ = 0;
};

}  // namespace moil
