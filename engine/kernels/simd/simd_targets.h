// Include before anything of Highway in files that use its dynamic dispatch: names the instruction
// sets worth their compile time (the baseline, SSE4, AVX2 with FMA, AVX-512, NEON). Kernels keep
// vectors in arrays, which scalable ones (SVE) do not allow. AddressSanitizer doubles the compile
// time, and sees in the baseline and in AVX2 what reads beyond a tensor.
#pragma once

#include <hwy/detect_targets.h>

#ifdef __SANITIZE_ADDRESS__
#define MOIL_UNSANITIZED_TARGETS (HWY_SSE4 | HWY_AVX3)
#else
#define MOIL_UNSANITIZED_TARGETS 0
#endif

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS                                                   \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | \
   MOIL_UNSANITIZED_TARGETS)
