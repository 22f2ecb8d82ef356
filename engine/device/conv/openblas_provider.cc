#include "engine/device/conv/cpu_providers.h"
#include "engine/device/conv/gemm_conv_kernels.h"

namespace moil {
namespace {

class OpenblasProvider final : public KernelProvider {
 public:
  std::string_view name() const override { return "openblas"; }
  std::vector<std::unique_ptr<ConvKernel>> candidates(
      const ConvShape& shape, ConvStep step, const ConvFusion& fusion, bool,
      std::optional<std::string_view> only) const override {
    constexpr const char* kGemm = "openblas/gemm";
    std::vector<std::unique_ptr<ConvKernel>> list;
    if (only && *only != kGemm) return list;
    // Nothing says that a row of the library's product does not depend on how many there are.
    if (fusion.constant_weights || shape.depthwise()) return list;
    list.push_back(make_gemm_conv_kernel(kGemm, shape, step, fusion, kBlasProduct));
    return list;
  }
};

}  // namespace

const KernelProvider& openblas_provider() {
  static const OpenblasProvider provider;
  return provider;
}

}  // namespace moil
