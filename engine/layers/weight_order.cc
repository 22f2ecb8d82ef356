#include "engine/layers/weight_order.h"

#include <cstring>

namespace moil {
namespace {

// Calls visit(file index, memory index) for every element of a rank-4 weight.
template <class Visit>
void visit_elements(const WeightSpec& spec, const Visit& visit) {
  const std::int64_t groups = spec.order == WeightOrder::kDepthwise ? spec.dims[0] : spec.groups;
  const std::int64_t group_out = spec.dims[0] / groups, in = spec.dims[1];
  const std::int64_t area = spec.dims[2] * spec.dims[3];
  std::int64_t file = 0;
  for (std::int64_t o = 0; o < spec.dims[0]; ++o) {
    const std::int64_t g = o / group_out;
    for (std::int64_t i = 0; i < in; ++i) {
      for (std::int64_t k = 0; k < area; ++k, ++file) {
        if (spec.order == WeightOrder::kDepthwise)
          visit(file, k * groups + g);
        else
          visit(file, ((g * area + k) * in + i) * group_out + o % group_out);
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
