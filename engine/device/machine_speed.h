// How fast this machine computes and moves memory, measured in about a second, and with what: for
// people who ask why a night is slow. What a kernel takes of a shape is measure.h's.
//
// Uses all of thread_count() threads; one caller at a time.
#pragma once

#include <string>

namespace moil {

struct MachineSpeed {
  int threads = 1;
  double sgemm_gflops = 0;  // of a square product through OpenBLAS: 1e9 operations a second
  double peak_gflops = 0;   // of multiply-adds from registers: what no product exceeds
  double copy_gbytes = 0;   // 1e9 bytes read and written a second, of memory far larger than caches
  std::string blas;         // as OpenBLAS tells of itself: "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
  std::string blas_kernel;  // "SkylakeX", "NEOVERSEN1"
  std::string vector_target;  // of our own kernels: "AVX2"
  std::string onednn;         // "3.0.0"; empty if it is not built in
};

// Throws kResourceExhausted if there is no memory for it.
[[nodiscard]] MachineSpeed measure_machine();

}  // namespace moil
