#include "engine/device/conv/onednn_conv.h"

#include <dnnl.hpp>

#include "base/error.h"
#include "engine/device/conv/gemm_conv_kernels.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/column_sum.h"

namespace moil {
namespace {

using dnnl::memory;

const dnnl::engine& cpu() {
  static const dnnl::engine engine = [] {
    // Kernels keep what they use; the library would keep every candidate's code, too.
    dnnl::set_primitive_cache_capacity(0);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Cuts a workspace into aligned pieces; only offsets, the memory comes with run().
class Workspace {
 public:
  std::size_t take(std::size_t bytes) {
    const std::size_t at = bytes_;
    bytes_ += padded(bytes);
    return at;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// A primitive with its arguments laid out beforehand, so that executing it allocates nothing of
// ours.
class Step {
 public:
  Step() = default;
  Step(dnnl::primitive primitive, std::vector<std::pair<int, const memory*>> args)
      : primitive_(std::move(primitive)) {
    for (const auto& [index, m] : args) args_.push_back({index, m->get()});
  }
  explicit operator bool() const { return !args_.empty(); }
  void run(const dnnl::stream& stream) const {
    const dnnl_status_t status = dnnl_primitive_execute(
        primitive_.get(), stream.get(), static_cast<int>(args_.size()), args_.data());
    if (status != dnnl_success)
      throw Error(ErrorCode::kInternal, "oneDNN refused to run a convolution: status " +
                                            std::to_string(static_cast<int>(status)));
  }

 private:
  dnnl::primitive primitive_;
  std::vector<dnnl_exec_arg_t> args_;
};

memory memory_of(const memory::desc& desc) { return {desc, cpu(), DNNL_MEMORY_NONE}; }

// A tensor as it lies with us and as the primitive wants it: the same memory, or two and a reorder.
struct Operand {
  memory ours, theirs;
  std::size_t offset = 0;  // of theirs in the workspace
  bool same = true;

  Operand() = default;
  Operand(const memory::desc& our_desc, const memory::desc& their_desc, Workspace& workspace)
      : ours(memory_of(our_desc)), theirs(memory_of(their_desc)), same(our_desc == their_desc) {
    if (!same) offset = workspace.take(their_desc.get_size());
  }
  void bind(const void* data, std::byte* workspace) {
    ours.set_data_handle(const_cast<void*>(data));
    theirs.set_data_handle(same ? const_cast<void*>(data) : workspace + offset);
  }
};

// The descriptions of a shape's tensors, ours and what we ask for.
struct Descs {
  memory::desc input, weights, output, bias;
  memory::desc wanted_input, wanted_weights, wanted_output;
  memory::dims strides, dilations, pad_begin, pad_end;
};

memory::desc weight_desc(const ConvShape& s) {
  const auto f32 = memory::data_type::f32;
  const std::int64_t in = s.group_in(), out = s.group_out(), tap = in * out;
  if (s.depthwise()) {
    const std::int64_t c = s.in_channels, all = c * s.kernel_area();
    return {{c, 1, 1, s.kernel_h, s.kernel_w}, f32, {1, all, all, s.kernel_w * c, c}};
  }
  if (s.groups == 1) return {{out, in, s.kernel_h, s.kernel_w}, f32, memory::format_tag::hwio};
  return {{s.groups, out, in, s.kernel_h, s.kernel_w},
          f32,
          {s.kernel_area() * tap, 1, out, s.kernel_w * tap, tap}};
}

Descs describe(const ConvShape& s, OnednnAlgorithm algorithm) {
  const auto f32 = memory::data_type::f32;
  const auto any = memory::format_tag::any, nhwc = memory::format_tag::nhwc;
  const auto image = algorithm == OnednnAlgorithm::kDirect ? nhwc : any;
  const memory::dims in = {s.batch, s.in_channels, s.in_h, s.in_w};
  const memory::dims out = {s.batch, s.out_channels, s.out_h(), s.out_w()};
  Descs d;
  d.input = {in, f32, nhwc};
  d.output = {out, f32, nhwc};
  d.bias = {{s.out_channels}, f32, memory::format_tag::a};
  d.weights = weight_desc(s);
  d.wanted_input = {in, f32, image};
  d.wanted_output = {out, f32, image};
  d.wanted_weights = {d.weights.dims(), f32, any};
  d.strides = {s.stride_h, s.stride_w};
  d.dilations = {s.dilation_h - 1, s.dilation_w - 1};
  d.pad_begin = {s.pad_top, s.pad_left};
  d.pad_end = {s.pad_bottom, s.pad_right};
  return d;
}

dnnl::algorithm dnnl_algorithm(OnednnAlgorithm a) {
  return a == OnednnAlgorithm::kWinograd ? dnnl::algorithm::convolution_winograd
                                         : dnnl::algorithm::convolution_direct;
}

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

Forward::primitive_desc forward_desc(const Descs& d, OnednnAlgorithm algorithm,
                                     const ConvFusion& fusion, dnnl::prop_kind kind) {
  dnnl::primitive_attr attr = user_scratchpad();
  if (fusion.activation != FusedActivation::kNone) {
    dnnl::post_ops ops;
    if (fusion.activation == FusedActivation::kRelu6)
      ops.append_eltwise(1.0F, dnnl::algorithm::eltwise_clip, 0.0F, 6.0F);
    else
      ops.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
    attr.set_post_ops(ops);
  }
  const auto alg = dnnl_algorithm(algorithm);
  const Forward::desc desc =
      fusion.bias ? Forward::desc(kind, alg, d.wanted_input, d.wanted_weights, d.bias,
                                  d.wanted_output, d.strides, d.dilations, d.pad_begin, d.pad_end)
                  : Forward::desc(kind, alg, d.wanted_input, d.wanted_weights, d.wanted_output,
                                  d.strides, d.dilations, d.pad_begin, d.pad_end);
  return {desc, attr, cpu(), /*allow_empty=*/true};
}

template <class PrimitiveDesc>
bool usable(const PrimitiveDesc& pd) {
  return pd.get(/*allow_empty=*/true) != nullptr &&
         std::string(pd.impl_info_str()).find("ref") == std::string::npos;
}

// Whether the library's own choice of image formats is ours: then the kernel is kDirect's twin.
bool is_twin(OnednnAlgorithm algorithm, const Descs& d, const memory::desc& input,
             const memory::desc& output) {
  return algorithm == OnednnAlgorithm::kDirectBlocked && input == d.input && output == d.output;
}

// What the three steps share: a stream, a workspace, reorders.
class OnednnConv : public ConvKernel {
 public:
  explicit OnednnConv(std::string name) : name_(std::move(name)), stream_(cpu()) {}
  std::string_view name() const override { return name_; }
  std::size_t workspace_bytes() const override { return workspace_.bytes(); }

 protected:
  void set_scratchpad(const memory::desc& desc) {
    scratchpad_ = memory_of(desc);
    scratchpad_offset_ = workspace_.take(desc.get_size());
  }
  void bind_scratchpad(std::byte* workspace) const {
    scratchpad_.set_data_handle(workspace + scratchpad_offset_);
  }
  // add: adds to `to` instead of overwriting it.
  Step reorder(const memory& from, const memory& to, bool add = false) {
    dnnl::primitive_attr attr = user_scratchpad();
    if (add) {
      dnnl::post_ops ops;
      ops.append_sum(1.0F);
      attr.set_post_ops(ops);
    }
    const dnnl::reorder::primitive_desc pd(cpu(), from.get_desc(), cpu(), to.get_desc(), attr);
    auto& pad = reorder_scratchpads_.emplace_back();
    pad.data = std::make_unique<memory>(memory_of(pd.scratchpad_desc()));
    pad.offset = workspace_.take(pd.scratchpad_desc().get_size());
    return {dnnl::reorder(pd),
            {{DNNL_ARG_FROM, &from}, {DNNL_ARG_TO, &to}, {DNNL_ARG_SCRATCHPAD, pad.data.get()}}};
  }
  Step reorder_in(const Operand& o) { return o.same ? Step() : reorder(o.ours, o.theirs); }
  Step reorder_out(const Operand& o) { return o.same ? Step() : reorder(o.theirs, o.ours); }
  void bind_reorders(std::byte* workspace) const {
    for (const auto& pad : reorder_scratchpads_) pad.data->set_data_handle(workspace + pad.offset);
  }
  void execute(const Step& step) const {
    if (step) step.run(stream_);
  }
  void finish() const { stream_.wait(); }

  std::string name_;
  mutable dnnl::stream stream_;
  mutable memory scratchpad_;
  std::size_t scratchpad_offset_ = 0;
  Workspace workspace_;
  int threads_ = thread_count();

 private:
  struct Pad {
    std::unique_ptr<memory> data;
    std::size_t offset = 0;
  };
  std::vector<Pad> reorder_scratchpads_;
};

class OnednnForward final : public OnednnConv {
 public:
  // shape: of one sample if weights are constant; then run() computes `samples` of them.
  OnednnForward(std::string name, const Descs& d, const Forward::primitive_desc& pd,
                const ConvFusion& fusion, std::int64_t samples)
      : OnednnConv(std::move(name)), fusion_(fusion), samples_(samples) {
    input_ = {d.input, pd.src_desc(), workspace_};
    output_ = {d.output, pd.dst_desc(), workspace_};
    packs_ = fusion.constant_weights && pd.weights_desc() != d.weights;
    if (packs_) {
      weights_.ours = memory_of(d.weights);
      weights_.theirs = memory_of(pd.weights_desc());
      weights_.same = false;
      packed_bytes_ = padded(pd.weights_desc().get_size());
    } else {
      weights_ = {d.weights, pd.weights_desc(), workspace_};
    }
    bias_ = memory_of(d.bias);
    set_scratchpad(pd.scratchpad_desc());
    reorder_input_ = reorder_in(input_);
    reorder_output_ = reorder_out(output_);
    if (!packs_) reorder_weights_ = reorder_in(weights_);
    std::vector<std::pair<int, const memory*>> args = {{DNNL_ARG_SRC, &input_.theirs},
                                                       {DNNL_ARG_WEIGHTS, &weights_.theirs},
                                                       {DNNL_ARG_DST, &output_.theirs},
                                                       {DNNL_ARG_SCRATCHPAD, &scratchpad_}};
    if (fusion.bias) args.emplace_back(DNNL_ARG_BIAS, &bias_);
    convolve_ = {Forward(pd), args};
    input_elements_ = static_cast<std::int64_t>(d.input.get_size() / sizeof(float));
    output_elements_ = static_cast<std::int64_t>(d.output.get_size() / sizeof(float));
  }

  std::size_t packed_weight_bytes() const override { return packed_bytes_; }
  void pack(const float* weights, std::byte* packed) const override {
    memory from(weights_.ours.get_desc(), cpu(), const_cast<float*>(weights));
    memory to(weights_.theirs.get_desc(), cpu(), packed);
    dnnl::reorder(from, to).execute(stream_, from, to);
    finish();
  }
  void run(const ConvArgs& args) const override {
    require_threads(threads_);
    bind_reorders(args.workspace);
    bind_scratchpad(args.workspace);
    if (packs_)
      weights_.theirs.set_data_handle(const_cast<std::byte*>(args.packed));
    else
      weights_.bind(args.weights, args.workspace);
    if (fusion_.bias) bias_.set_data_handle(const_cast<float*>(args.bias));
    execute(reorder_weights_);
    for (std::int64_t i = 0; i < samples_; ++i) {
      input_.bind(args.input + i * input_elements_, args.workspace);
      output_.bind(args.output + i * output_elements_, args.workspace);
      execute(reorder_input_);
      execute(convolve_);
      execute(reorder_output_);
    }
    finish();
  }

 private:
  ConvFusion fusion_;
  std::int64_t samples_, input_elements_, output_elements_;
  mutable Operand input_, weights_, output_;
  mutable memory bias_;
  bool packs_ = false;
  std::size_t packed_bytes_ = 0;
  Step reorder_input_, reorder_weights_, reorder_output_, convolve_;
};

class OnednnDerivative final : public OnednnConv {
 public:
  OnednnDerivative(std::string name, const Descs& d, const BackwardData::primitive_desc& pd)
      : OnednnConv(std::move(name)) {
    input_ = {d.input, pd.diff_src_desc(), workspace_};
    output_ = {d.output, pd.diff_dst_desc(), workspace_};
    weights_ = {d.weights, pd.weights_desc(), workspace_};
    set_scratchpad(pd.scratchpad_desc());
    reorder_output_ = reorder_in(output_);
    reorder_weights_ = reorder_in(weights_);
    reorder_input_ = reorder_out(input_);
    convolve_ = {BackwardData(pd),
                 {{DNNL_ARG_DIFF_SRC, &input_.theirs},
                  {DNNL_ARG_WEIGHTS, &weights_.theirs},
                  {DNNL_ARG_DIFF_DST, &output_.theirs},
                  {DNNL_ARG_SCRATCHPAD, &scratchpad_}}};
  }
  void run(const ConvArgs& args) const override {
    require_threads(threads_);
    bind_reorders(args.workspace);
    bind_scratchpad(args.workspace);
    weights_.bind(args.weights, args.workspace);
    output_.bind(args.output_derivative, args.workspace);
    input_.bind(args.input_derivative, args.workspace);
    execute(reorder_weights_);
    execute(reorder_output_);
    execute(convolve_);
    execute(reorder_input_);
    finish();
  }

 private:
  mutable Operand input_, weights_, output_;
  Step reorder_input_, reorder_weights_, reorder_output_, convolve_;
};

class OnednnGradient final : public OnednnConv {
 public:
  OnednnGradient(std::string name, const Descs& d, const BackwardWeights::primitive_desc& pd,
                 const ConvShape& shape)
      : OnednnConv(std::move(name)), pixels_(shape.out_pixels()), channels_(shape.out_channels) {
    input_ = {d.input, pd.src_desc(), workspace_};
    output_ = {d.output, pd.diff_dst_desc(), workspace_};
    // Always of its own: the library overwrites, and we may have to add.
    weights_.ours = memory_of(d.weights);
    weights_.theirs = memory_of(pd.diff_weights_desc());
    weights_.same = false;
    weights_.offset = workspace_.take(pd.diff_weights_desc().get_size());
    set_scratchpad(pd.scratchpad_desc());
    reorder_input_ = reorder_in(input_);
    reorder_output_ = reorder_in(output_);
    write_weights_ = reorder(weights_.theirs, weights_.ours);
    add_weights_ = reorder(weights_.theirs, weights_.ours, /*add=*/true);
    convolve_ = {BackwardWeights(pd),
                 {{DNNL_ARG_SRC, &input_.theirs},
                  {DNNL_ARG_DIFF_WEIGHTS, &weights_.theirs},
                  {DNNL_ARG_DIFF_DST, &output_.theirs},
                  {DNNL_ARG_SCRATCHPAD, &scratchpad_}}};
  }
  std::size_t workspace_bytes() const override {
    return std::max(OnednnConv::workspace_bytes(), column_sum_workspace(pixels_, channels_));
  }
  void run(const ConvArgs& args) const override {
    require_threads(threads_);
    if (args.weight_gradient) run_weights(args);
    if (args.bias_gradient)
      column_sum(pixels_, channels_, args.output_derivative, args.bias_gradient, args.accumulate,
                 args.workspace);
  }

 private:
  void run_weights(const ConvArgs& args) const {
    bind_reorders(args.workspace);
    bind_scratchpad(args.workspace);
    input_.bind(args.input, args.workspace);
    output_.bind(args.output_derivative, args.workspace);
    weights_.bind(args.weight_gradient, args.workspace);
    execute(reorder_input_);
    execute(reorder_output_);
    execute(convolve_);
    execute(args.accumulate ? add_weights_ : write_weights_);
    finish();
  }

  std::int64_t pixels_, channels_;
  mutable Operand input_, weights_, output_;
  Step reorder_input_, reorder_output_, write_weights_, add_weights_, convolve_;
};

std::unique_ptr<ConvKernel> make_forward(const std::string& name, const ConvShape& shape,
                                         const ConvFusion& fusion, OnednnAlgorithm algorithm) {
  ConvShape of_primitive = shape;
  if (fusion.constant_weights) of_primitive.batch = 1;
  const Descs d = describe(of_primitive, algorithm);
  const auto kind = fusion.constant_weights ? dnnl::prop_kind::forward_inference
                                            : dnnl::prop_kind::forward_training;
  const auto pd = forward_desc(d, algorithm, fusion, kind);
  if (!usable(pd) || is_twin(algorithm, d, pd.src_desc(), pd.dst_desc())) return nullptr;
  return std::make_unique<OnednnForward>(name, d, pd, fusion,
                                         fusion.constant_weights ? shape.batch : 1);
}

std::unique_ptr<ConvKernel> make_backward(const std::string& name, const ConvShape& shape,
                                          ConvStep step, OnednnAlgorithm algorithm) {
  const Descs d = describe(shape, algorithm);
  const auto hint = forward_desc(d, algorithm, {}, dnnl::prop_kind::forward_training);
  if (hint.get(true) == nullptr) return nullptr;
  const auto alg = dnnl_algorithm(algorithm);
  if (step == ConvStep::kDerivative) {
    const BackwardData::primitive_desc pd(
        BackwardData::desc(alg, d.wanted_input, d.wanted_weights, d.wanted_output, d.strides,
                           d.dilations, d.pad_begin, d.pad_end),
        user_scratchpad(), cpu(), hint, /*allow_empty=*/true);
    if (!usable(pd) || is_twin(algorithm, d, pd.diff_src_desc(), pd.diff_dst_desc()))
      return nullptr;
    return std::make_unique<OnednnDerivative>(name, d, pd);
  }
  const BackwardWeights::primitive_desc pd(
      BackwardWeights::desc(alg, d.wanted_input, d.wanted_weights, d.wanted_output, d.strides,
                            d.dilations, d.pad_begin, d.pad_end),
      user_scratchpad(), cpu(), hint, /*allow_empty=*/true);
  if (!usable(pd) || is_twin(algorithm, d, pd.src_desc(), pd.diff_dst_desc())) return nullptr;
  return std::make_unique<OnednnGradient>(name, d, pd, shape);
}

}  // namespace

std::unique_ptr<ConvKernel> make_onednn_conv_kernel(const std::string& name, const ConvShape& shape,
                                                    ConvStep step, const ConvFusion& fusion,
                                                    OnednnAlgorithm algorithm) {
  try {
    return step == ConvStep::kForward ? make_forward(name, shape, fusion, algorithm)
                                      : make_backward(name, shape, step, algorithm);
  } catch (const dnnl::error&) {
    return nullptr;  // the library refuses the shape
  }
}

}  // namespace moil
