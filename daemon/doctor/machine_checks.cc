#include "daemon/doctor/machine_checks.h"

namespace moil::daemon {
namespace {

constexpr double kPoorShare = 0.4;  // of the peak; a kernel that fits the CPU reaches 0.7 and more
constexpr double kSlowGflops = 2;   // below, a night takes days

Finding judge_product(const Json& speed, bool is_busy) {
  constexpr const char* kWhat = "blas";
  const double product = speed.at("sgemm_gflops"), peak = speed.at("peak_gflops");
  const std::string kernel = speed.at("blas_kernel");
  const int threads = speed.at("threads");
  const double share = peak > 0 ? product / peak : 0;
  const std::string says =
      figure(product) + " GFLOP/s in products of matrices, " + figure(share * 100) + " % of the " +
      figure(peak) + " that multiply-adds reach, with " + std::to_string(threads) +
      (threads == 1 ? " thread" : " threads") + " and OpenBLAS' kernel " + kernel;
  if (is_busy) return ok(kWhat, says + "; a job computes meanwhile, so there is more in it");
  if (share < kPoorShare)
    return warning(
        kWhat, says + ", which does not fit this CPU, or something else computes",
        "run moilctl doctor again when the device is idle; install a newer libopenblas0; "
        "or name a kernel by OPENBLAS_CORETYPE in the unit's Environment=");
  if (product < kSlowGflops)
    return warning(kWhat, says + "; nights take long on it",
                   "train few layers (freeze.trainable_layers) and set deadline_seconds");
  return ok(kWhat, says);
}

Finding judge_confinement(const std::string& unconfined) {
  constexpr const char* kWhat = "confinement";
  if (unconfined.empty()) return ok(kWhat, "Landlock and seccomp confine the worker");
  return warning(kWhat, unconfined,
                 "boot a kernel of 5.13 or later, with landlock among lsm= of its command line");
}

}  // namespace

Findings judge_machine(const Json& speed, bool is_busy) {
  const std::string onednn = speed.at("onednn");
  return {judge_confinement(speed.at("unconfined")), judge_product(speed, is_busy),
          ok("memory-speed", figure(speed.at("copy_gbytes").get<double>()) +
                                 " GB/s are read and written in copies"),
          ok("kernels", "vectors: " + speed.at("vector_target").get<std::string>() + "; " +
                            speed.at("blas").get<std::string>() +
                            "; oneDNN: " + (onednn.empty() ? "not built in" : onednn))};
}

}  // namespace moil::daemon
