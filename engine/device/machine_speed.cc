#include "engine/device/machine_speed.h"

#include <cblas.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "base/error.h"
#include "base/seconds.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/multiply_adds.h"
#include "engine/kernels/parallel.h"
#ifdef MOIL_HAVE_ONEDNN
#include <dnnl.hpp>
#endif

namespace moil {
namespace {

constexpr int kRuns = 4;
constexpr double kGiga = 1e9;
constexpr double kLongEnough = 0.03;  // of a run, seconds
constexpr std::int64_t kSide = 768;   // of the product's matrices
constexpr std::size_t kCopied = (std::size_t{64} << 20) / sizeof(float);

template <class Work>
double fastest_of_runs(const Work& work) {
  double best = 0;
  for (int run = 0; run <= kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = seconds_since(start);
    if (run == 1 || (run > 1 && seconds < best)) best = seconds;  // the first warms up
  }
  return best;
}

double peak_gflops(int threads) {
  std::atomic<float> kept = 0;  // so that the work is done
  const auto time = [&](std::int64_t rounds) {
    return fastest_of_runs(
        [&] { parallel_parts(threads, [&](int) { kept = multiply_adds(rounds); }); });
  };
  std::int64_t rounds = 1 << 16;
  double seconds = time(rounds);
  for (; seconds < kLongEnough; seconds = time(rounds)) rounds *= 4;
  return static_cast<double>(multiply_add_flops()) * static_cast<double>(rounds) * threads /
         seconds / kGiga;
}

double sgemm_gflops() {
  const std::vector<float> a(kSide * kSide, 0.5F), b(kSide * kSide, 0.25F);
  std::vector<float> c(kSide * kSide);
  const double seconds = fastest_of_runs([&] {
    sgemm(Transpose::kNo, Transpose::kNo, kSide, kSide, kSide, 1, a.data(), kSide, b.data(), kSide,
          0, c.data(), kSide);
  });
  return 2.0 * kSide * kSide * kSide / seconds / kGiga;
}

double copy_gbytes() {
  const std::vector<float> from(kCopied, 1);
  std::vector<float> to(kCopied, 0);
  const double seconds = fastest_of_runs([&] {
    parallel_for(static_cast<std::int64_t>(kCopied), 1, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to.data() + begin, from.data() + begin,
                  static_cast<std::size_t>(end - begin) * sizeof(float));
    });
  });
  return 2.0 * kCopied * sizeof(float) / seconds / kGiga;
}

std::string onednn_version() {
#ifdef MOIL_HAVE_ONEDNN
  const dnnl::version_t* version = dnnl::version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
#else
  return "";
#endif
}

}  // namespace

MachineSpeed measure_machine() {
  try {
    MachineSpeed speed;
    speed.threads = thread_count();
    speed.sgemm_gflops = sgemm_gflops();
    speed.peak_gflops = peak_gflops(speed.threads);
    speed.copy_gbytes = copy_gbytes();
    speed.blas = openblas_get_config();
    speed.blas_kernel = openblas_get_corename();
    speed.vector_target = vector_target();
    speed.onednn = onednn_version();
    return speed;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kResourceExhausted, "there is no memory to measure the machine with");
  }
}

}  // namespace moil
