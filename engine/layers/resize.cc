// Images of another size, type "resize".
//
// Properties: size, a number or [height, width]; mode, "nearest" or "linear" (between two pixels
// along each axis); coordinates, which say where a pixel of the result lies in the input, the ratio
// of the sizes being r: "asymmetric" (i r), "half_pixel" ((i + 1/2) r - 1/2) or "align_corners"
// (the first on the first, the last on the last); rounding, of "nearest": "floor", "ceil",
// "round_prefer_floor" or "round_prefer_ceil", by which side a half goes.
// Backward reads only the derivative.
#include "engine/kernels/convolution/resize.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

struct Sampling {
  bool linear = false;
  std::string coordinates, rounding;
};

double source_of(const Sampling& s, std::int64_t i, std::int64_t in, std::int64_t out) {
  const auto at = static_cast<double>(i);
  const double ratio = static_cast<double>(in) / static_cast<double>(out);
  if (s.coordinates == "half_pixel") return (at + 0.5) * ratio - 0.5;
  if (s.coordinates == "asymmetric") return at * ratio;
  return out == 1 ? 0 : at * static_cast<double>(in - 1) / static_cast<double>(out - 1);
}

double nearest(const Sampling& s, double at) {
  if (s.rounding == "floor") return std::floor(at);
  if (s.rounding == "ceil") return std::ceil(at);
  return s.rounding == "round_prefer_floor" ? std::ceil(at - 0.5) : std::floor(at + 0.5);
}

std::vector<Tap> taps_of(const Sampling& s, std::int64_t in, std::int64_t out) {
  const auto most = static_cast<double>(in - 1);
  std::vector<Tap> taps;
  for (std::int64_t i = 0; i < out; ++i) {
    double at = source_of(s, i, in, out);
    if (!s.linear) at = nearest(s, at);
    at = std::clamp(at, 0.0, most);
    Tap tap;
    tap.first = static_cast<std::int64_t>(at);
    tap.second = std::min(tap.first + 1, in - 1);
    tap.share = static_cast<float>(at - std::floor(at));
    if (tap.share == 0) tap.second = tap.first;
    taps.push_back(tap);
  }
  return taps;
}

class Resize final : public Layer {
 public:
  Resize(std::vector<std::int64_t> size, Sampling sampling)
      : size_(std::move(size)), sampling_(std::move(sampling)) {}

  std::string_view type() const override { return "resize"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    require_image(inputs[0]);
    const Dims& dims = inputs[0].dims;
    return {{Dims{dims[0], dims[1], size_[0], size_[1]}, Layout::kChannelsLast}};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    const Dims& dims = setup.inputs[0].dims;
    rows_ = taps_of(sampling_, dims[2], size_[0]);
    columns_ = taps_of(sampling_, dims[3], size_[1]);
    shape_ = {dims[0], dims[1], dims[2], dims[3], rows_, columns_};
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    return plan;
  }

  void forward(const LayerRun& run) override {
    const std::int64_t grain =
        std::max<std::int64_t>(1, kElementGrain / (size_[1] * shape_.channels));
    parallel_for(shape_.batch * size_[0], grain, [&](std::int64_t begin, std::int64_t end) {
      resize_image(shape_, run.inputs[0], run.outputs[0], begin, end);
    });
  }

  void compute_derivative(const LayerRun& run) override {
    parallel_for(shape_.batch, 1, [&](std::int64_t begin, std::int64_t end) {
      resize_derivative(shape_, run.output_derivatives[0], run.input_derivatives[0], begin, end);
    });
  }

 private:
  const std::vector<std::int64_t> size_;
  const Sampling sampling_;
  std::vector<Tap> rows_, columns_;
  ResizeShape shape_;
};

void require_one_of(const std::string& layer, const char* property, const std::string& word,
                    std::initializer_list<const char*> known) {
  std::string all;
  for (const char* one : known) {
    if (word == one) return;
    all += (all.empty() ? "" : ", ") + std::string(one);
  }
  throw Error(ErrorCode::kInvalidArgument, "layer \"" + layer + "\": property \"" + property +
                                               "\" is \"" + word + "\", expected one of " + all);
}

}  // namespace

std::unique_ptr<Layer> make_resize(const std::string& name, const Properties& properties) {
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 16;  // of a side
  PropertyReader reader(name, properties);
  auto size = reader.integers("size", 2, 0);
  const std::string mode = reader.word("mode", "nearest");
  Sampling sampling{mode == "linear", reader.word("coordinates", "asymmetric"),
                    reader.word("rounding", "floor")};
  reader.done();
  if (std::min(size[0], size[1]) < 1 || std::max(size[0], size[1]) > kMostPixels)
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name + "\": property \"size\" must be from 1 to 65536");
  require_one_of(name, "mode", mode, {"nearest", "linear"});
  require_one_of(name, "coordinates", sampling.coordinates,
                 {"asymmetric", "half_pixel", "align_corners"});
  require_one_of(name, "rounding", sampling.rounding,
                 {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"});
  return std::make_unique<Resize>(std::move(size), std::move(sampling));
}

}  // namespace moil
