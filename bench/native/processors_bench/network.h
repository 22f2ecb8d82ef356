// The network of a case: prepared, with its options.
#pragma once

#include "bench/native/processors_bench/rows.h"
#include "engine/run/network.h"
#include "engine/train/optimizer.h"

namespace moil::bench {

struct PreparedCase {
  ModelDescription model;
  NetworkOptions options;
  OptimizerConfig optimizer;
};
[[nodiscard]] PreparedCase prepared(const NetworkCase& c);

// Kernels that are measured once for all networks of a run.
[[nodiscard]] KernelSelector& measured_kernels();

}  // namespace moil::bench
