#include "engine/layers/weight_order.h"

#include <cstring>

#include "engine/kernels/parallel.h"

namespace moil {
namespace {

// Calls visit(file index, memory index) for every element, on several threads.
template <class Visit>
void visit_elements(const WeightSpec& spec, const Visit& visit) {
  constexpr std::int64_t kElementsOfAThread = 1 << 16;
  const WeightBlocks blocks(spec);
  const std::int64_t grain = kElementsOfAThread / std::max<std::int64_t>(1, blocks.elements()) + 1;
  parallel_for(blocks.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      blocks.visit(
          b, [&](std::int64_t file, std::int64_t stride, std::int64_t memory, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) visit(file + i * stride, memory + i);
          });
    }
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
