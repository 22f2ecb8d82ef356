#include "engine/device/conv/cpu_providers.h"
#include "engine/device/conv/onednn_conv.h"

namespace moil {
namespace {

class OnednnProvider final : public KernelProvider {
 public:
  std::string_view name() const override { return "onednn"; }
  std::vector<std::unique_ptr<ConvKernel>> candidates(
      const ConvShape& shape, ConvStep step, const ConvFusion& fusion, bool exact,
      std::optional<std::string_view> only) const override {
    std::vector<std::unique_ptr<ConvKernel>> list;
    const auto offer = [&](const char* kernel, OnednnAlgorithm algorithm) {
      if (only && *only != kernel) return;
      if (auto made = make_onednn_conv_kernel(kernel, shape, step, fusion, algorithm))
        list.push_back(std::move(made));
    };
    offer("onednn/direct", OnednnAlgorithm::kDirect);
    offer("onednn/direct-blocked", OnednnAlgorithm::kDirectBlocked);
    if (!exact) offer("onednn/winograd", OnednnAlgorithm::kWinograd);
    return list;
  }
};

}  // namespace

const KernelProvider& onednn_provider() {
  static const OnednnProvider provider;
  return provider;
}

}  // namespace moil
