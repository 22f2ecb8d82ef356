// An instruction's pointers, as network.cc lays them out before the first step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/half_floats.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/run/network.h"
#include "engine/tensor/row_gradient.h"

namespace moil {

// An instruction's pointers, laid out once so that running it only hands them over.
struct Network::StepRun {
  OperandTable<float*> at;
  std::vector<std::byte*> saved = {};
  std::vector<WeightUpdate> updates = {};
  std::vector<std::optional<RowGradient>> row_gradients = {};  // of the updates
  std::uint64_t key = 0;
  std::uint32_t adds_to = 0;
  bool again = false;

  // A conversion's two ends: from, and to.
  std::pair<void*, void*> ends = {};
  std::int64_t converted = 0;  // elements

  void convert(Conversion conversion) const {
    const auto [from, to] = ends;
    parallel_for(converted, kElementGrain,
                 [&, from = from, to = to](std::int64_t begin, std::int64_t end) {
                   const auto count = static_cast<std::size_t>(end - begin);
                   if (conversion == Conversion::kNarrow)
                     narrow_to_bf16(static_cast<const float*>(from) + begin, count,
                                    static_cast<std::uint8_t*>(to) + 2 * begin);
                   else
                     widen_from_bf16(static_cast<const std::uint8_t*>(from) + 2 * begin, count,
                                     static_cast<float*>(to) + begin);
                 });
  }

  // What CG left, as those who apply it see it.
  std::span<const WeightUpdate> current_updates() {
    for (std::size_t u = 0; u < updates.size(); ++u) {
      if (!row_gradients[u]) continue;
      updates[u].rows = row_gradients[u]->rows();
      updates[u].elements = row_gradients[u]->count() * row_gradients[u]->width();
    }
    return updates;
  }
};

}  // namespace moil
