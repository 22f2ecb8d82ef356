// What open_opencl() is in builds without OpenCL's headers and CLBlast.
#include "engine/opencl/open.h"

namespace moil {

std::unique_ptr<Processor> open_opencl(const ProcessorOptions&) {
  throw ProcessorError("this build has no OpenCL");
}

}  // namespace moil
