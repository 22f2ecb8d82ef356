#include "engine/layers/weight_order.h"

#include <algorithm>
#include <cstring>

#include "engine/kernels/parallel.h"

namespace moil {
namespace {

// Calls visit(file index, memory index) for every element of a rank-4 weight, on several threads: a
// few rows of the file side by side, which lie beside each other in memory.
template <class Visit>
void visit_elements(const WeightSpec& spec, const Visit& visit) {
  constexpr std::int64_t kRows = 16, kElementsOfAThread = 1 << 16;
  // A depthwise weight is one of a single group and a single input.
  const std::int64_t groups = spec.order == WeightOrder::kDepthwise ? 1 : spec.groups;
  const std::int64_t out = spec.dims[0] / groups, in = spec.dims[1];
  const std::int64_t area = spec.dims[2] * spec.dims[3], row = in * area;
  const std::int64_t blocks = (out + kRows - 1) / kRows;  // of a group
  const auto visit_block = [&](std::int64_t g, std::int64_t first) {
    const std::int64_t rows = std::min(kRows, out - first);
    for (std::int64_t i = 0; i < in; ++i) {
      for (std::int64_t k = 0; k < area; ++k) {
        const std::int64_t file = (g * out + first) * row + i * area + k;
        const std::int64_t memory = ((g * area + k) * in + i) * out + first;
        for (std::int64_t o = 0; o < rows; ++o) visit(file + o * row, memory + o);
      }
    }
  };
  const std::int64_t grain = kElementsOfAThread / std::max<std::int64_t>(1, kRows * row) + 1;
  parallel_for(groups * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) visit_block(b / blocks, b % blocks * kRows);
  });
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
