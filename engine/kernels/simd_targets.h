// Include before anything of Highway in files that use its dynamic dispatch: names the instruction
// sets worth their compile time (the baseline, SSE4, AVX2 with FMA, AVX-512, NEON). Kernels keep
// vectors in arrays, which scalable ones (SVE) do not allow.
#pragma once

#include <hwy/detect_targets.h>

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
