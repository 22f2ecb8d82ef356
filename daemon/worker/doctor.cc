#include "daemon/worker/doctor.h"

#include "daemon/worker/confinement.h"
#include "engine/device/machine_speed.h"

namespace moil::daemon {

Json examine_machine() {
  const std::string unconfined = worker::confine({});
  const MachineSpeed speed = measure_machine();
  return {{"threads", speed.threads},
          {"sgemm_gflops", speed.sgemm_gflops},
          {"peak_gflops", speed.peak_gflops},
          {"copy_gbytes", speed.copy_gbytes},
          {"blas", speed.blas},
          {"blas_kernel", speed.blas_kernel},
          {"vector_target", speed.vector_target},
          {"onednn", speed.onednn},
          {"unconfined", unconfined}};
}

}  // namespace moil::daemon
