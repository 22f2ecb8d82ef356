// The same elements in the same logical order under other dims, type "reshape": [N, ...] to
// [N, dims...].
//
// Properties: dims, of one sample; layout ("channels_last" or "plain"), of a result of rank 4: an
// image, or rows as sequences have them. Shares its memory if the elements lie in that order.
#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/axes.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class Reshape final : public Layer {
 public:
  Reshape(std::vector<std::int64_t> dims, Layout layout)
      : sample_(std::move(dims)), layout_(layout) {}

  std::string_view type() const override { return "reshape"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    if (inputs[0].dims.rank() == 0) fail_shape("takes tensors with a batch dimension");
    std::vector<std::int64_t> dims = {inputs[0].dims[0]};
    dims.insert(dims.end(), sample_.begin(), sample_.end());
    TensorInfo result{Dims(dims)};
    if (result.dims.elements() != inputs[0].dims.elements()) {
      fail_shape("cannot make " + result.dims.to_string() + " of " + inputs[0].dims.to_string() +
                 ": another number of elements");
    }
    if (dims.size() == 4) result.layout = layout_;
    return {result};
  }

  LayerPlan plan(const LayerSetup& setup) override;

  void forward(const LayerRun& run) override {
    const float* in = run.inputs[0];
    if (same_data_) return pass(in, run.outputs[0]);
    if (leaves_) to_plain_.run(in, enters_ ? between(run) : run.outputs[0]);
    if (enters_) from_plain_.run(leaves_ ? between(run) : in, run.outputs[0]);
  }

  void compute_derivative(const LayerRun& run) override {
    const float* dy = run.output_derivatives[0];
    float* dx = run.input_derivatives[0];
    if (same_data_) return pass(dy, dx);
    if (enters_) from_image_.run(dy, leaves_ ? between(run) : dx);
    if (leaves_) to_image_.run(enters_ ? between(run) : dy, dx);
  }

 private:
  float* between(const LayerRun& run) const { return reinterpret_cast<float*>(run.workspace); }
  void pass(const float* in, float* out) const {
    parallel_for(elements_, kElementGrain,
                 [&](std::int64_t begin, std::int64_t end) { copy(in, out, begin, end); });
  }

  const std::vector<std::int64_t> sample_;
  const Layout layout_;
  std::int64_t elements_ = 0;
  bool same_data_ = false;
  bool leaves_ = false, enters_ = false;  // the order of an image, at the input and at the output
  StridedCopy to_plain_, from_plain_;     // in F
  StridedCopy from_image_, to_image_;     // back, in CD
};

LayerPlan Reshape::plan(const LayerSetup& setup) {
  const TensorInfo &in = setup.inputs[0], &out = setup.outputs[0];
  elements_ = in.dims.elements();
  leaves_ = !lies_plainly(in);
  enters_ = !lies_plainly(out);
  same_data_ = (!leaves_ && !enters_) || (in.dims == out.dims && in.layout == out.layout);
  to_plain_ = copy_between(in, memory_strides(in), plain_strides(in.dims));
  from_plain_ = copy_between(out, plain_strides(out.dims), memory_strides(out));
  from_image_ = from_plain_.reversed();
  to_image_ = to_plain_.reversed();
  LayerPlan plan;
  plan.inputs = {Lifespan::kForward};
  plan.outputs = {Lifespan::kNone};
  plan.output_derivatives = Lifespan::kComputeDerivative;
  if (leaves_ && enters_ && !same_data_)
    plan.forward_workspace = plan.derivative_workspace = in.bytes();
  plan.in_place = plan.derivative_in_place = same_data_ ? InPlace::kSameData : InPlace::kNo;
  return plan;
}

}  // namespace

std::unique_ptr<Layer> make_reshape(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  auto dims = reader.list("dims", 1);
  const Layout layout = read_layout(reader, Layout::kChannelsLast);
  reader.done();
  return std::make_unique<Reshape>(std::move(dims), layout);
}

}  // namespace moil
