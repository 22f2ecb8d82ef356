#include "engine/device/conv/conv_kernel.h"

#include "base/error.h"
#include "engine/device/conv/cpu_providers.h"

namespace moil {

std::string_view to_string(ConvStep step) {
  switch (step) {
    case ConvStep::kForward:
      return "F";
    case ConvStep::kGradient:
      return "CG";
    case ConvStep::kDerivative:
      return "CD";
  }
  return "?";
}

void ConvKernel::pack(const float*, std::byte*) const {
  throw Error(ErrorCode::kInternal, std::string(name()) + " packs no weights");
}

const std::vector<const KernelProvider*>& kernel_providers() {
  static const std::vector<const KernelProvider*> all = [] {
    std::vector<const KernelProvider*> list = {&native_provider()};
#ifdef MOIL_HAVE_ONEDNN
    list.push_back(&onednn_provider());
#endif
    list.push_back(&openblas_provider());
    return list;
  }();
  return all;
}

}  // namespace moil
