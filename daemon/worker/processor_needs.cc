#include "daemon/worker/processor_needs.h"

#include <cstdlib>

#include "base/gpu_nodes.h"

namespace moil::worker {
namespace {

// The drivers; their settings; and where they find out which GPU is behind a device node.
constexpr const char* kReadable[] = {"/etc/OpenCL",    "/etc/drirc",    "/dev/dri",    "/sys/bus",
                                     "/sys/class/drm", "/sys/dev/char", "/sys/devices"};
// Memory that GPUs of boards share with the CPU comes from here.
constexpr const char* kMemory[] = {"/dev/dma_heap/system", "/dev/ion"};

}  // namespace

void add_processor(Needs& needs, const std::filesystem::path& profiles) {
  needs.read.insert(needs.read.end(), std::begin(kReadable), std::end(kReadable));
  needs.control = gpu_nodes();
  needs.control.insert(needs.control.end(), std::begin(kMemory), std::end(kMemory));
  // A service's user has no home folder to keep them in.
  const std::filesystem::path compiled = profiles / "drivers";
  ::setenv("XDG_CACHE_HOME", compiled.c_str(), 1);
  ::setenv("CUDA_CACHE_PATH", compiled.c_str(), 1);  // Nvidia's heeds no XDG_CACHE_HOME
  // They would take up to a gigabyte. Who set another limit for the service keeps it.
  ::setenv("MESA_SHADER_CACHE_MAX_SIZE", "64M", 0);
  ::setenv("CUDA_CACHE_MAXSIZE", "67108864", 0);
}

}  // namespace moil::worker
