#include "engine/device/conv/sliced_conv.h"

#include <charconv>

namespace moil {
namespace {

class SlicedConv final : public ConvKernel {
 public:
  SlicedConv(std::unique_ptr<ConvKernel> slice, const ConvShape& shape, ConvStep step,
             std::int64_t slices)
      : slice_(std::move(slice)),
        name_(std::string(slice_->name()) + " x" + std::to_string(slices)),
        step_(step),
        slices_(slices),
        in_elements_(shape.in_elements() / slices),
        out_elements_(shape.out_elements() / slices) {}

  std::string_view name() const override { return name_; }
  std::size_t workspace_bytes() const override { return slice_->workspace_bytes(); }

  void run(const ConvArgs& args) const override {
    ConvArgs slice = args;
    for (std::int64_t i = 0; i < slices_; ++i) {
      if (args.input) slice.input = args.input + i * in_elements_;
      if (args.output) slice.output = args.output + i * out_elements_;
      if (args.output_derivative)
        slice.output_derivative = args.output_derivative + i * out_elements_;
      if (args.input_derivative) slice.input_derivative = args.input_derivative + i * in_elements_;
      slice.accumulate = args.accumulate || (step_ == ConvStep::kGradient && i > 0);
      slice_->run(slice);
    }
  }

 private:
  const std::unique_ptr<ConvKernel> slice_;
  const std::string name_;
  const ConvStep step_;
  const std::int64_t slices_, in_elements_, out_elements_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_sliced_conv(std::unique_ptr<ConvKernel> slice,
                                             const ConvShape& shape, ConvStep step,
                                             std::int64_t slices) {
  return std::make_unique<SlicedConv>(std::move(slice), shape, step, slices);
}

std::pair<std::string, std::int64_t> split_sliced_name(const std::string& name) {
  const auto at = name.rfind(" x");
  std::int64_t slices = 0;
  if (at == std::string::npos) return {name, 1};
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + at + 2, end, slices);
  if (error != std::errc() || stop != end || slices < 1) return {name, 1};
  return {name.substr(0, at), slices};
}

}  // namespace moil
