#include "engine/device/cpu_processors.h"
#include "engine/device/onednn_conv.h"

namespace moil {
namespace {

class OnednnProcessor final : public Processor {
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

const Processor& onednn_processor() {
  static const OnednnProcessor processor;
  return processor;
}

}  // namespace moil
