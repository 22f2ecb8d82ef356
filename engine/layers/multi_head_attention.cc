// Attention of several heads, type "multi_head_attention": [N, Lq, E] to [N, Lq, E].
//
// Inputs: x (self attention), or query and memory, or query, key and value; memory, key and value
// [N, Lk, E]. Behind them int32 [N], if given: how many keys of each sample count. A sample without
// any attends to nothing. Properties: heads, causal (false: query i sees the keys 0 to i alone),
// bias (true), head_by_head (true). Weights as PyTorch's, the query's rows first, then the key's
// and the value's: "in_proj_weight" [3E, E], "in_proj_bias" [3E], "out_proj_weight" [E, E],
// "out_proj_bias" [E].
//
// Head by head, a thread holds the probabilities of one head alone, and backward makes them again:
// one product more of the seven of a head. Else all are kept from F on, which grows with the square
// of the length. Backward's derivatives of query, key and value lie over their projections, and
// that of the context over the context.
#include <algorithm>
#include <array>

#include "engine/kernels/attention/attention.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/linear.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/column_sum.h"
#include "engine/layers/lengths.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

enum AttentionWeight : std::size_t { kInWeight, kOutWeight, kInBias, kOutBias };
enum AttentionPart : std::size_t { kQuery, kKey, kValue, kAttentionParts };

struct AttentionProperties {
  std::int64_t heads = 1;
  bool causal = false, bias = true, head_by_head = true;
};

// An input and what is projected of it by one product: rows of [parts * E] each.
struct Source {
  std::size_t first = kQuery, parts = kAttentionParts;
  LinearShape shape;
  std::int64_t offset = 0;  // of its projections, behind those of the inputs before it
};

constexpr std::size_t kNotSaved = static_cast<std::size_t>(-1);

class MultiHeadAttention final : public Layer {
 public:
  MultiHeadAttention(std::string name, AttentionProperties properties)
      : name_(std::move(name)), p_(properties) {}

  std::string_view type() const override { return "multi_head_attention"; }
  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override;
  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override;
  LayerPlan plan(const LayerSetup& setup) override;
  void weights_changed(const LayerRun& run) override;
  void forward(const LayerRun& run) override;
  void compute_gradient(const LayerRun& run) override;
  void compute_derivative(const LayerRun& run) override;

 private:
  void read_shapes(std::span<const TensorInfo> inputs);
  void plan_saved(LayerPlan& plan);
  void plan_packing(const LayerSetup& setup, LayerPlan& plan);
  void plan_workspaces(LayerPlan& plan) const;
  std::int64_t width() const { return shape_.heads * shape_.depth; }
  LinearShape out_shape() const { return {shape_.batch * shape_.queries, width(), width()}; }
  std::int64_t contexts() const { return out_shape().rows * width(); }
  std::int64_t projections() const;
  bool attends_again(bool in_gradient) const {
    return in_gradient ? attends_in_gradient_ : derivative_ && !attends_in_gradient_;
  }
  AttentionArgs arguments(const LayerRun& run, float* projections) const;
  void project(const LayerRun& run, float* to) const;
  void project_out(const LayerRun& run, HeadRows context) const;
  void attend_backward(const LayerRun& run, bool in_gradient);
  void write_in_gradients(const LayerRun& run, std::byte* workspace) const;

  const std::string name_;
  const AttentionProperties p_;
  AttentionShape shape_;
  std::vector<Source> sources_;
  std::int64_t lengths_ = -1;  // which input they are
  // Which step of backward attends, and which of the saved tensors is what.
  bool attends_in_gradient_ = false, derivative_ = false, trains_out_ = false;
  std::size_t saved_projections_ = kNotSaved, saved_context_ = kNotSaved,
              saved_probabilities_ = kNotSaved;
  bool packed_ = false;  // saved: what each source's product wants, then what the output's does
};

void require_sequence(const TensorInfo& info) {
  if (info.dims.rank() != 3) fail_shape("takes sequences [N, L, E], has " + info.dims.to_string());
}

std::vector<TensorInfo> MultiHeadAttention::infer_outputs(
    std::span<const TensorInfo> inputs) const {
  const auto values = without_lengths(inputs);
  if (values.empty() || values.size() > 3) {
    fail_shape("takes x, or query and memory, or query, key and value, has " +
               std::to_string(values.size()) + " inputs");
  }
  for (const TensorInfo& info : values) require_sequence(info);
  const Dims& query = values[0].dims;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const Dims& d = values[i].dims;
    if (d[0] == query[0] && d[2] == query[2] && d[1] == values[1].dims[1]) continue;
    fail_shape("takes keys and values of one length and of the query's batch and width, has " +
               query.to_string() + ", " + values[1].dims.to_string() +
               (i == 1 ? "" : " and " + d.to_string()));
  }
  if (query[2] % p_.heads != 0) {
    fail_shape("cannot part a width of " + std::to_string(query[2]) + " among " +
               std::to_string(p_.heads) + " heads");
  }
  return {values[0]};
}

std::vector<WeightSpec> MultiHeadAttention::weights(std::span<const TensorInfo> inputs) const {
  const std::int64_t width = infer_outputs(inputs)[0].dims.back();
  const auto spec = [&](const char* name, Dims dims, Initializer init) {
    WeightSpec weight;
    weight.name = name;
    weight.dims = dims;
    weight.init = init;
    weight.fan_in = width, weight.fan_out = dims[0];
    weight.decays = dims.rank() > 1;
    return weight;
  };
  std::vector<WeightSpec> specs = {
      spec("in_proj_weight", Dims{3 * width, width}, Initializer::kXavierUniform),
      spec("out_proj_weight", Dims{width, width}, Initializer::kUniformFanIn)};
  if (p_.bias) {
    specs.push_back(spec("in_proj_bias", Dims{3 * width}, Initializer::kZeros));
    specs.push_back(spec("out_proj_bias", Dims{width}, Initializer::kZeros));
  }
  return specs;
}

void MultiHeadAttention::read_shapes(std::span<const TensorInfo> inputs) {
  const auto values = without_lengths(inputs);
  lengths_ = has_lengths(inputs) ? static_cast<std::int64_t>(values.size()) : -1;
  const Dims &query = values[0].dims, &key = values[values.size() > 1 ? 1 : 0].dims;
  shape_ = {query[0],
            p_.heads,
            query[1],
            key[1],
            query[2] / p_.heads,
            p_.causal,
            part_count(query[0] * p_.heads, 1)};
  // The last input is the rest of query, key and value.
  sources_.clear();
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t parts = i + 1 < values.size() ? 1 : kAttentionParts - i;
    const Dims& d = values[i].dims;
    const LinearShape shape{d[0] * d[1], d[2], static_cast<std::int64_t>(parts) * d[2]};
    sources_.push_back({i, parts, shape, offset});
    offset += shape.rows * shape.outs;
  }
}

std::int64_t MultiHeadAttention::projections() const {
  const Source& last = sources_.back();
  return last.offset + last.shape.rows * last.shape.outs;
}

LayerPlan MultiHeadAttention::plan(const LayerSetup& setup) {
  read_shapes(setup.inputs);
  const auto trains = [&](std::size_t w) { return setup.train_weight[w]; };
  const bool trains_in_weight = trains(kInWeight);
  attends_in_gradient_ = trains_in_weight || (p_.bias && trains(kInBias));
  derivative_ = setup.computes_derivative();
  trains_out_ = trains(kOutWeight);
  const Lifespan attending =
      attends_in_gradient_ ? Lifespan::kComputeGradient : Lifespan::kComputeDerivative;
  LayerPlan plan;
  plan.inputs.assign(setup.inputs.size(), Lifespan::kForward);
  for (std::size_t i = 0; trains_in_weight && i < sources_.size(); ++i)
    plan.inputs[i] |= Lifespan::kComputeGradient;
  if (lengths_ >= 0) plan.inputs[static_cast<std::size_t>(lengths_)] |= attending;
  plan.outputs = {Lifespan::kNone};
  plan.weights = Lifespan::kComputeDerivative | attending;
  plan.output_derivatives = Lifespan::kComputeGradient | attending;
  plan_saved(plan);
  plan_packing(setup, plan);
  plan_workspaces(plan);
  return plan;
}

void MultiHeadAttention::plan_saved(LayerPlan& plan) {
  const bool attends = attends_in_gradient_ || derivative_;
  const auto save = [&](bool wanted, const char* name, std::int64_t floats, Lifespan lifespan) {
    if (!wanted) return kNotSaved;
    plan.saved.push_back(
        {name, static_cast<std::size_t>(floats) * sizeof(float), Lifespan::kForward | lifespan});
    return plan.saved.size() - 1;
  };
  const Lifespan gradient = Lifespan::kComputeGradient, derivative = Lifespan::kComputeDerivative;
  const Lifespan attending = attends_in_gradient_ ? gradient : derivative;
  saved_projections_ = save(attends, "projections", projections(), attending | derivative);
  saved_probabilities_ =
      save(attends && !p_.head_by_head, "probabilities",
           shape_.batch * shape_.heads * shape_.queries * shape_.keys, attending);
  saved_context_ = save(trains_out_, "context", contexts(), gradient);
}

// At inference the weights are packed once, and a sample's result does not depend on its batch.
void MultiHeadAttention::plan_packing(const LayerSetup& setup, LayerPlan& plan) {
  packed_ = !setup.training && plan.saved.empty() && !setup.computes_gradient() &&
            !setup.forward_elsewhere;
  if (!packed_) return;
  for (const Source& source : sources_)
    plan.saved.push_back(
        {"packed_in", packed_b_bytes(source.shape.ins, source.shape.outs), Lifespan::kMax});
  plan.saved.push_back({"packed_out", packed_b_bytes(width(), width()), Lifespan::kMax});
  if (!setup.pack_convolutions) return;
  plan.keeps_weight.assign(setup.train_weight.size(), true);
  plan.keeps_weight[kInWeight] = plan.keeps_weight[kOutWeight] = false;
}

// Forward: the projections and contexts that are not saved, then scratch. Backward: the context's
// derivative, unless it has a saved context to lie over, then scratch or sums of a bias.
void MultiHeadAttention::plan_workspaces(LayerPlan& plan) const {
  const bool keeps = saved_probabilities_ != kNotSaved;
  const auto bytes = [](std::int64_t floats) {
    return static_cast<std::size_t>(floats) * sizeof(float);
  };
  const bool context_over_query = saved_projections_ == kNotSaved;
  const std::int64_t own_projections = context_over_query ? projections() : 0;
  const std::int64_t own_context =
      saved_context_ == kNotSaved && !context_over_query ? contexts() : 0;
  plan.forward_workspace =
      bytes(own_projections + own_context + attention_scratch(shape_, keeps, false));
  const std::size_t backward = bytes(attention_scratch(shape_, keeps, true));
  if (attends_again(true)) plan.gradient_workspace = backward + bytes(trains_out_ ? 0 : contexts());
  if (attends_again(false)) plan.derivative_workspace = backward + bytes(contexts());
  for (const Source& s : sources_)
    plan.gradient_workspace =
        std::max(plan.gradient_workspace, column_sum_workspace(s.shape.rows, s.shape.outs));
  plan.gradient_workspace =
      std::max(plan.gradient_workspace, column_sum_workspace(out_shape().rows, width()));
}

void MultiHeadAttention::weights_changed(const LayerRun& run) {
  if (!packed_) return;
  const std::int64_t e = width();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& s = sources_[i];
    pack_b(Transpose::kYes, e, s.shape.outs,
           run.weights[kInWeight] + static_cast<std::int64_t>(s.first) * e * e, e, run.saved[i]);
  }
  pack_b(Transpose::kYes, e, e, run.weights[kOutWeight], e, run.saved[sources_.size()]);
}

void MultiHeadAttention::project(const LayerRun& run, float* to) const {
  const std::int64_t e = width();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& s = sources_[i];
    const auto first = static_cast<std::int64_t>(s.first) * e;
    const float* bias = p_.bias ? run.weights[kInBias] + first : nullptr;
    const auto [rows, ins, outs] = s.shape;
    if (packed_)
      packed_gemm(rows, outs, ins, run.inputs[i], ins, run.saved[i], to + s.offset, outs,
                  {bias, FusedActivation::kNone});
    else
      linear(s.shape, run.inputs[i], ins, run.weights[kInWeight] + first * e, bias, to + s.offset);
  }
}

void MultiHeadAttention::project_out(const LayerRun& run, HeadRows context) const {
  const float* bias = p_.bias ? run.weights[kOutBias] : nullptr;
  const auto [rows, ins, outs] = out_shape();
  if (packed_)
    return packed_gemm(rows, outs, ins, context.data, context.stride, run.saved[sources_.size()],
                       run.outputs[0], outs, {bias, FusedActivation::kNone});
  linear(out_shape(), context.data, context.stride, run.weights[kOutWeight], bias, run.outputs[0]);
}

AttentionArgs MultiHeadAttention::arguments(const LayerRun& run, float* projections) const {
  AttentionArgs args;
  const std::array<HeadRows*, kAttentionParts> parts = {&args.query, &args.key, &args.value};
  for (const Source& s : sources_) {
    for (std::size_t k = 0; k < s.parts; ++k)
      *parts.at(s.first + k) = {projections + s.offset + static_cast<std::int64_t>(k) * width(),
                                s.shape.outs};
  }
  if (lengths_ >= 0)
    args.lengths = LayerRun::as<std::int32_t>(run.inputs[static_cast<std::size_t>(lengths_)]);
  if (saved_probabilities_ != kNotSaved)
    args.probabilities = reinterpret_cast<float*>(run.saved[saved_probabilities_]);
  return args;
}

// Run again, it finds what it saved.
void MultiHeadAttention::forward(const LayerRun& run) {
  auto* workspace = reinterpret_cast<float*>(run.workspace);
  float* projected = workspace;
  if (saved_projections_ == kNotSaved)
    workspace += projections();
  else
    projected = reinterpret_cast<float*>(run.saved[saved_projections_]);
  AttentionArgs args = arguments(run, projected);
  if (args.lengths)
    check_lengths(name_, {args.lengths, static_cast<std::size_t>(shape_.batch)}, shape_.keys);
  args.context = args.query;
  if (saved_context_ != kNotSaved)
    args.context = {reinterpret_cast<float*>(run.saved[saved_context_]), width()};
  else if (saved_projections_ != kNotSaved)
    args.context = {workspace, width()}, workspace += contexts();
  args.scratch = workspace;
  if (!run.again || saved_projections_ == kNotSaved) project(run, projected);
  if (!run.again || saved_context_ == kNotSaved) attention(shape_, args);
  project_out(run, args.context);
}

// Leaves the derivatives of the projections.
void MultiHeadAttention::attend_backward(const LayerRun& run, bool in_gradient) {
  auto* workspace = reinterpret_cast<float*>(run.workspace);
  float* context = workspace;
  if (in_gradient && trains_out_)
    context = reinterpret_cast<float*>(run.saved[saved_context_]);
  else
    workspace += contexts();
  linear_derivative(out_shape(), run.output_derivatives[0], run.weights[kOutWeight], context);
  AttentionArgs args = arguments(run, reinterpret_cast<float*>(run.saved[saved_projections_]));
  args.context = {context, width()};
  args.scratch = workspace;
  attention_derivative(shape_, args);
}

void MultiHeadAttention::write_in_gradients(const LayerRun& run, std::byte* workspace) const {
  const std::int64_t e = width();
  const auto* projected = reinterpret_cast<const float*>(run.saved[saved_projections_]);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& s = sources_[i];
    const auto first = static_cast<std::int64_t>(s.first) * e;
    if (float* gradient = run.gradients[kInWeight])
      linear_gradient(s.shape, run.inputs[i], projected + s.offset, run.adds(kInWeight),
                      gradient + first * e);
    if (p_.bias && run.gradients[kInBias])
      column_sum(s.shape.rows, s.shape.outs, projected + s.offset, run.gradients[kInBias] + first,
                 run.adds(kInBias), workspace);
  }
}

void MultiHeadAttention::compute_gradient(const LayerRun& run) {
  const float* dy = run.output_derivatives[0];
  if (float* gradient = run.gradients[kOutWeight])
    linear_gradient(out_shape(), reinterpret_cast<const float*>(run.saved[saved_context_]), dy,
                    run.adds(kOutWeight), gradient);
  if (p_.bias && run.gradients[kOutBias])
    column_sum(out_shape().rows, width(), dy, run.gradients[kOutBias], run.adds(kOutBias),
               run.workspace);
  if (!attends_in_gradient_) return;
  attend_backward(run, true);
  write_in_gradients(run, run.workspace);
}

void MultiHeadAttention::compute_derivative(const LayerRun& run) {
  if (!attends_in_gradient_) attend_backward(run, false);
  const auto* projected = reinterpret_cast<const float*>(run.saved[saved_projections_]);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& s = sources_[i];
    if (!run.input_derivatives[i]) continue;
    linear_derivative(
        s.shape, projected + s.offset,
        run.weights[kInWeight] + static_cast<std::int64_t>(s.first) * width() * width(),
        run.input_derivatives[i]);
  }
}

}  // namespace

std::unique_ptr<Layer> make_multi_head_attention(const std::string& name,
                                                 const Properties& properties) {
  PropertyReader reader(name, properties);
  AttentionProperties p;
  p.heads = reader.integer("heads");
  p.causal = reader.flag("causal", false);
  p.bias = reader.flag("bias", true);
  p.head_by_head = reader.flag("head_by_head", true);
  reader.done();
  return std::make_unique<MultiHeadAttention>(name, p);
}

}  // namespace moil
