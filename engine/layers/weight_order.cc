#include "engine/layers/weight_order.h"

#include <algorithm>
#include <cstring>

namespace moil {
namespace {

// Calls visit(file index, memory index) for every element of a rank-4 weight: a few rows of the
// file side by side, which lie beside each other in memory.
template <class Visit>
void visit_elements(const WeightSpec& spec, const Visit& visit) {
  constexpr std::int64_t kRows = 16;
  // A depthwise weight is one of a single group and a single input.
  const std::int64_t groups = spec.order == WeightOrder::kDepthwise ? 1 : spec.groups;
  const std::int64_t out = spec.dims[0] / groups, in = spec.dims[1];
  const std::int64_t area = spec.dims[2] * spec.dims[3], row = in * area;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t first = 0; first < out; first += kRows) {
      const std::int64_t rows = std::min(kRows, out - first);
      for (std::int64_t i = 0; i < in; ++i) {
        for (std::int64_t k = 0; k < area; ++k) {
          const std::int64_t file = (g * out + first) * row + i * area + k;
          const std::int64_t memory = ((g * area + k) * in + i) * out + first;
          for (std::int64_t o = 0; o < rows; ++o) visit(file + o * row, memory + o);
        }
      }
    }
  }
}

}  // namespace

void to_memory_order(const WeightSpec& spec, const float* file, float* memory) {
  if (spec.order == WeightOrder::kPlain) {
    std::memcpy(memory, file, static_cast<std::size_t>(spec.dims.elements()) * sizeof(float));
    return;
  }
  visit_elements(spec, [&](std::int64_t f, std::int64_t m) { memory[m] = file[f]; });
}

void to_file_order(const WeightSpec& spec, const float* memory, float* file) {
  if (spec.order == WeightOrder::kPlain) {
    std::memcpy(file, memory, static_cast<std::size_t>(spec.dims.elements()) * sizeof(float));
    return;
  }
  visit_elements(spec, [&](std::int64_t f, std::int64_t m) { file[f] = memory[m]; });
}

}  // namespace moil
