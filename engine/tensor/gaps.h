// The gaps that placed memory requests leave at some orders. Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/tensor/planner.h"

namespace moil {

class Gaps {
 public:
  Gaps() = default;
  // Between the requests for which `which` holds; each lies at its offset.
  Gaps(std::span<const MemoryRequest> requests, const std::vector<bool>& which,
       std::span<const std::size_t> offsets);

  void add(const MemoryRequest& request, std::size_t offset);

  // The smallest that holds the request at all its orders; behind everything if none does.
  [[nodiscard]] std::size_t best(const MemoryRequest& request) const;
  // The size of the largest at an order, below `limit` bytes.
  [[nodiscard]] std::size_t largest(int order, std::size_t limit) const;

 private:
  struct Placed {
    std::size_t begin, end;
    int first, last;
  };
  // Calls see(low, high) of every gap, from the lowest on; gives the end of what is placed.
  template <class See>
  std::size_t each(int first, int last, const See& see) const;

  std::vector<Placed> placed_;  // by begin
};

}  // namespace moil
