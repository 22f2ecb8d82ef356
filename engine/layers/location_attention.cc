// Attention that knows where it looked before (Chorowski 2015, Tacotron 2), type
// "location_attention": one step of a decoder.
//
// Inputs: query [N, Q], memory [N, L, E], the memory as it is compared [N, L, A], the weights of
// the step before and their sum over all steps before [N, L]; behind them int32 [N], if given: how
// many positions of each sample count. A sample without any has a context of 0. Outputs: context
// [N, E] and this step's weights [N, L]: the softmax over positions l of
//   energy . tanh(query_weight query + compared[l] + location_weight conv(before, sum)[l]).
// Properties: filters (32) and kernel (31, odd) of the convolution. Weights: "query_weight" [A, Q],
// "conv_weight" [filters, 2, kernel], "location_weight" [A, filters], "energy_weight" [A].
//
// The convolution and what follows it are one product, of the taps with [A, 2 kernel]. Between F
// and backward nothing is kept but inputs and outputs: a decoder has many steps, and tanh of [N, L,
// A] is soon made again.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/linear.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/activation.h"
#include "engine/kernels/rows/softmax.h"
#include "engine/layers/lengths.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

enum LocationInput : std::size_t {
  kQueryRow,
  kMemory,
  kCompared,
  kBefore,
  kSumBefore,
  kLocationLengths
};
enum LocationWeight : std::size_t { kQueryWeight, kConvWeight, kLocationWeight, kEnergyWeight };

struct LocationShape {
  std::int64_t batch = 1, length = 1;
  std::int64_t query = 1, memory = 1, compared = 1;  // widths
  std::int64_t filters = 1, kernel = 1;
  std::int64_t taps() const { return 2 * kernel; }
  std::int64_t positions() const { return batch * length; }
  LinearShape of_query() const { return {batch, query, compared}; }
};

class LocationAttention final : public Layer {
 public:
  LocationAttention(std::string name, std::int64_t filters, std::int64_t kernel)
      : name_(std::move(name)), filters_(filters), kernel_(kernel) {}

  std::string_view type() const override { return "location_attention"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    const LocationShape s = shape_of(inputs);
    return {{Dims{s.batch, s.memory}}, {Dims{s.batch, s.length}}};
  }
  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override;
  LayerPlan plan(const LayerSetup& setup) override;
  void forward(const LayerRun& run) override;
  void compute_gradient(const LayerRun& run) override;
  void compute_derivative(const LayerRun& run) override;

 private:
  // What a step works with; laid out in its workspace.
  struct Work {
    float* product;  // [A, taps]: of the convolution and what follows it
    float* taps;     // [N, L, taps]
    float* hidden;   // [N, L, A]: of tanh; in backward the slopes before it
    float* query;    // [N, A]: compared; in backward its slopes
    float* energy;   // [N, A]: the slopes of the energy's weights, by sample
    float* scores;   // [N, L]: the slopes of the energies
  };

  LocationShape shape_of(std::span<const TensorInfo> inputs) const;
  Work work(const LayerRun& run, bool saved_slopes) const;
  const std::int32_t* lengths(const LayerRun& run) const {
    return has_lengths_ ? LayerRun::as<std::int32_t>(run.inputs[kLocationLengths]) : nullptr;
  }
  std::int64_t visible(const LayerRun& run, std::int64_t sample) const {
    return has_lengths_ ? lengths(run)[sample] : s_.length;
  }
  void find_product(const LayerRun& run, float* product) const;
  void write_taps(const LayerRun& run, std::int64_t sample, float* taps) const;
  void find_hidden(const LayerRun& run, const Work& w, std::int64_t sample) const;
  void find_energy_slopes(const LayerRun& run, const Work& w, std::int64_t sample) const;
  void find_slopes(const LayerRun& run, const Work& w, std::int64_t sample) const;
  void find_all_slopes(const LayerRun& run, const Work& w) const;
  void derive_line(const float* taps, std::int64_t line, float* to) const;
  void derive_sample(const LayerRun& run, const Work& w, std::int64_t sample) const;

  const std::string name_;
  const std::int64_t filters_, kernel_;
  LocationShape s_;
  bool has_lengths_ = false;
  bool slopes_in_gradient_ = false;  // CG finds them; for CD, too, if they are saved
  bool saves_slopes_ = false;
};

LocationShape LocationAttention::shape_of(std::span<const TensorInfo> inputs) const {
  const auto values = without_lengths(inputs);
  require_inputs(values, kLocationLengths);
  const Dims &query = values[kQueryRow].dims, &memory = values[kMemory].dims,
             &compared = values[kCompared].dims;
  const bool ranks = query.rank() == 2 && memory.rank() == 3 && compared.rank() == 3;
  const Dims row = ranks ? Dims{query[0], memory[1]} : Dims{};
  if (!ranks || memory[0] != query[0] || compared[0] != query[0] || compared[1] != memory[1] ||
      !(values[kBefore].dims == row) || !(values[kSumBefore].dims == row)) {
    std::string found;
    for (const TensorInfo& info : values)
      found += (found.empty() ? "" : ", ") + info.dims.to_string();
    fail_shape("takes [N, Q], [N, L, E], [N, L, A], [N, L] and [N, L], has " + found);
  }
  return {query[0], memory[1], query[1], memory[2], compared[2], filters_, kernel_};
}

std::vector<WeightSpec> LocationAttention::weights(std::span<const TensorInfo> inputs) const {
  const LocationShape s = shape_of(inputs);
  const auto spec = [](const char* name, Dims dims, std::int64_t in, std::int64_t out) {
    WeightSpec weight;
    weight.name = name;
    weight.dims = dims;
    weight.init = Initializer::kXavierUniform;
    weight.fan_in = in, weight.fan_out = out;
    return weight;
  };
  return {spec("query_weight", Dims{s.compared, s.query}, s.query, s.compared),
          spec("conv_weight", Dims{s.filters, 2, s.kernel}, s.taps(), s.filters * s.kernel),
          spec("location_weight", Dims{s.compared, s.filters}, s.filters, s.compared),
          spec("energy_weight", Dims{s.compared}, s.compared, 1)};
}

LayerPlan LocationAttention::plan(const LayerSetup& setup) {
  s_ = shape_of(setup.inputs);
  has_lengths_ = has_lengths(setup.inputs);
  slopes_in_gradient_ = setup.computes_gradient();
  saves_slopes_ = slopes_in_gradient_ && setup.computes_derivative();
  const Lifespan gradient = Lifespan::kComputeGradient, derivative = Lifespan::kComputeDerivative;
  const Lifespan finding = slopes_in_gradient_ ? gradient : derivative;
  LayerPlan plan;
  plan.inputs.assign(setup.inputs.size(), Lifespan::kForward | finding);
  plan.outputs = {Lifespan::kNone, finding | derivative};
  plan.weights = plan.output_derivatives = finding | derivative;
  const auto bytes = [](std::int64_t floats) {
    return static_cast<std::size_t>(floats) * sizeof(float);
  };
  const std::size_t slopes = bytes((s_.positions() + s_.batch) * s_.compared);
  const std::size_t others =
      bytes((s_.compared + s_.positions()) * s_.taps() + s_.batch * s_.compared + s_.positions());
  if (saves_slopes_) plan.saved.push_back({"slopes", slopes, gradient | derivative});
  plan.forward_workspace = others + slopes;
  plan.gradient_workspace = plan.derivative_workspace = others + (saves_slopes_ ? 0 : slopes);
  return plan;
}

LocationAttention::Work LocationAttention::work(const LayerRun& run, bool saved_slopes) const {
  auto* next = reinterpret_cast<float*>(run.workspace);
  const auto take = [&](std::int64_t floats) {
    next += floats;
    return next - floats;
  };
  Work w{};
  w.product = take(s_.compared * s_.taps());
  w.taps = take(s_.positions() * s_.taps());
  if (saved_slopes) {
    w.hidden = reinterpret_cast<float*>(run.saved[0]);
    w.query = w.hidden + s_.positions() * s_.compared;
  } else {
    w.hidden = take(s_.positions() * s_.compared);
    w.query = take(s_.batch * s_.compared);
  }
  w.energy = take(s_.batch * s_.compared);
  w.scores = take(s_.positions());
  return w;
}

void LocationAttention::find_product(const LayerRun& run, float* product) const {
  sgemm_serial(Transpose::kNo, Transpose::kNo, s_.compared, s_.taps(), s_.filters, 1.0F,
               run.weights[kLocationWeight], s_.filters, run.weights[kConvWeight], s_.taps(), 0.0F,
               product, s_.taps());
}

// A row a position: what the convolution sees of both lines, zeros beyond their ends.
void LocationAttention::write_taps(const LayerRun& run, std::int64_t sample, float* taps) const {
  const std::array<const float*, 2> lines = {run.inputs[kBefore] + sample * s_.length,
                                             run.inputs[kSumBefore] + sample * s_.length};
  for (std::int64_t l = 0; l < s_.length; ++l) {
    for (const float* line : lines) {
      for (std::int64_t k = l - s_.kernel / 2; k <= l + s_.kernel / 2; ++k)
        *taps++ = k >= 0 && k < s_.length ? line[k] : 0;
    }
  }
}

// The tanh of a sample's positions. Its shapes do not know the batch.
void LocationAttention::find_hidden(const LayerRun& run, const Work& w, std::int64_t n) const {
  const std::int64_t a = s_.compared, size = s_.length * a;
  float *query = w.query + n * a, *hidden = w.hidden + n * size,
        *taps = w.taps + n * s_.length * s_.taps();
  few_rows_gemm(1, a, s_.query, run.inputs[kQueryRow] + n * s_.query, s_.query,
                run.weights[kQueryWeight], s_.query, nullptr, query, a);
  write_taps(run, n, taps);
  const float* compared = run.inputs[kCompared] + n * size;
  for (std::int64_t l = 0; l < s_.length; ++l)
    for (std::int64_t i = 0; i < a; ++i) hidden[l * a + i] = compared[l * a + i] + query[i];
  sgemm_serial(Transpose::kNo, Transpose::kYes, s_.length, a, s_.taps(), 1.0F, taps, s_.taps(),
               w.product, s_.taps(), 1.0F, hidden, a);
  activate(ActivationKind::kTanh, 0, hidden, hidden, 0, size);
}

void LocationAttention::forward(const LayerRun& run) {
  if (has_lengths_)
    check_lengths(name_, {lengths(run), static_cast<std::size_t>(s_.batch)}, s_.length);
  const Work w = work(run, false);
  find_product(run, w.product);
  parallel_for(s_.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      find_hidden(run, w, n);
      const std::int64_t seen = visible(run, n);
      float *context = run.outputs[0] + n * s_.memory, *weights = run.outputs[1] + n * s_.length;
      std::fill_n(weights, s_.length, 0.0F);
      std::fill_n(context, s_.memory, 0.0F);
      if (seen == 0) continue;
      few_rows_gemm(1, seen, s_.compared, run.weights[kEnergyWeight], s_.compared,
                    w.hidden + n * s_.length * s_.compared, s_.compared, nullptr, weights, seen);
      softmax(weights, weights, seen, 0, 1);
      sgemm_serial(Transpose::kNo, Transpose::kNo, 1, s_.memory, seen, 1.0F, weights, seen,
                   run.inputs[kMemory] + n * s_.length * s_.memory, s_.memory, 0.0F, context,
                   s_.memory);
    }
  });
}

// The slopes of a sample's energies, in w.scores.
void LocationAttention::find_energy_slopes(const LayerRun& run, const Work& w,
                                           std::int64_t n) const {
  const std::int64_t seen = visible(run, n);
  float* slopes = w.scores + n * s_.length;
  const float *context = run.output_derivatives[0], *direct = run.output_derivatives[1];
  if (context)
    few_rows_gemm(1, seen, s_.memory, context + n * s_.memory, s_.memory,
                  run.inputs[kMemory] + n * s_.length * s_.memory, s_.memory, nullptr, slopes,
                  seen);
  for (std::int64_t l = 0; l < seen; ++l)
    slopes[l] = (context ? slopes[l] : 0) + (direct ? direct[n * s_.length + l] : 0);
  softmax_derivative(run.outputs[1] + n * s_.length, slopes, slopes, seen, 0, 1);
}

// Those of what tanh takes over tanh, their sums over positions, which are the query's, and those
// of the energy's weights.
void LocationAttention::find_slopes(const LayerRun& run, const Work& w, std::int64_t n) const {
  const std::int64_t a = s_.compared, seen = visible(run, n);
  float *hidden = w.hidden + n * s_.length * a, *query = w.query + n * a,
        *energy = w.energy + n * a;
  const float *v = run.weights[kEnergyWeight], *slopes = w.scores + n * s_.length;
  if (seen > 0) {
    find_hidden(run, w, n);
    find_energy_slopes(run, w, n);
  }
  std::fill_n(query, a, 0.0F);
  std::fill_n(energy, a, 0.0F);
  std::fill(hidden + seen * a, hidden + s_.length * a, 0.0F);
  for (std::int64_t l = 0; l < seen; ++l, hidden += a) {
    for (std::int64_t i = 0; i < a; ++i) {
      const float tanh = hidden[i];
      energy[i] += slopes[l] * tanh;
      hidden[i] = slopes[l] * v[i] * (1 - tanh * tanh);
      query[i] += hidden[i];
    }
  }
}

void LocationAttention::find_all_slopes(const LayerRun& run, const Work& w) const {
  find_product(run, w.product);
  parallel_for(s_.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) find_slopes(run, w, n);
  });
}

void LocationAttention::compute_gradient(const LayerRun& run) {
  const Work w = work(run, saves_slopes_);
  find_all_slopes(run, w);
  if (float* gradient = run.gradients[kQueryWeight])
    linear_gradient(s_.of_query(), run.inputs[kQueryRow], w.query, run.adds(kQueryWeight),
                    gradient);
  if (float* gradient = run.gradients[kEnergyWeight]) {
    if (!run.adds(kEnergyWeight)) std::fill_n(gradient, s_.compared, 0.0F);
    for (std::int64_t n = 0; n < s_.batch; ++n)
      for (std::int64_t i = 0; i < s_.compared; ++i) gradient[i] += w.energy[n * s_.compared + i];
  }
  float *conv = run.gradients[kConvWeight], *location = run.gradients[kLocationWeight];
  if (!conv && !location) return;
  // A sample without positions has no slopes, and taps that nobody wrote.
  for (std::int64_t n = 0; n < s_.batch; ++n)
    if (visible(run, n) == 0) write_taps(run, n, w.taps + n * s_.length * s_.taps());
  gemm_transposed_a(s_.positions(), s_.taps(), s_.compared, w.hidden, s_.compared, w.taps,
                    s_.taps(), false, w.product, s_.taps());
  if (location)
    sgemm_serial(Transpose::kNo, Transpose::kYes, s_.compared, s_.filters, s_.taps(), 1.0F,
                 w.product, s_.taps(), run.weights[kConvWeight], s_.taps(),
                 run.adds(kLocationWeight) ? 1.0F : 0.0F, location, s_.filters);
  if (conv)
    sgemm_serial(Transpose::kYes, Transpose::kNo, s_.filters, s_.taps(), s_.compared, 1.0F,
                 run.weights[kLocationWeight], s_.filters, w.product, s_.taps(),
                 run.adds(kConvWeight) ? 1.0F : 0.0F, conv, s_.taps());
}

// Each place of a line gave a tap to every position that saw it.
void LocationAttention::derive_line(const float* taps, std::int64_t line, float* to) const {
  const std::int64_t half = s_.kernel / 2;
  for (std::int64_t l = 0; l < s_.length; ++l) {
    float sum = 0;
    for (std::int64_t k = 0; k < s_.kernel; ++k) {
      const std::int64_t from = l + half - k;
      if (from >= 0 && from < s_.length) sum += taps[from * s_.taps() + line * s_.kernel + k];
    }
    to[l] = sum;
  }
}

void LocationAttention::derive_sample(const LayerRun& run, const Work& w, std::int64_t n) const {
  const std::int64_t length = s_.length;
  if (float* memory = run.input_derivatives[kMemory]) {
    memory += n * length * s_.memory;
    const float *weights = run.outputs[1] + n * length, *context = run.output_derivatives[0];
    for (std::int64_t l = 0; l < length; ++l)
      for (std::int64_t e = 0; e < s_.memory; ++e)
        memory[l * s_.memory + e] = context ? weights[l] * context[n * s_.memory + e] : 0;
  }
  const std::array<float*, 2> lines = {run.input_derivatives[kBefore],
                                       run.input_derivatives[kSumBefore]};
  if (!lines[0] && !lines[1]) return;
  float* taps = w.taps + n * length * s_.taps();
  sgemm_serial(Transpose::kNo, Transpose::kNo, length, s_.taps(), s_.compared, 1.0F,
               w.hidden + n * length * s_.compared, s_.compared, w.product, s_.taps(), 0.0F, taps,
               s_.taps());
  for (std::size_t line = 0; line < lines.size(); ++line)
    if (lines.at(line))
      derive_line(taps, static_cast<std::int64_t>(line), lines.at(line) + n * length);
}

void LocationAttention::compute_derivative(const LayerRun& run) {
  const Work w = work(run, saves_slopes_);
  if (saves_slopes_)
    find_product(run, w.product);
  else
    find_all_slopes(run, w);
  if (float* query = run.input_derivatives[kQueryRow])
    linear_derivative(s_.of_query(), w.query, run.weights[kQueryWeight], query);
  if (float* compared = run.input_derivatives[kCompared])
    std::copy_n(w.hidden, s_.positions() * s_.compared, compared);
  parallel_for(s_.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) derive_sample(run, w, n);
  });
}

}  // namespace

std::unique_ptr<Layer> make_location_attention(const std::string& name,
                                               const Properties& properties) {
  PropertyReader reader(name, properties);
  const std::int64_t filters = reader.integer("filters", 32, 1);
  const std::int64_t kernel = reader.integer("kernel", 31, 1);
  reader.done();
  if (kernel % 2 == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name + "\": property \"kernel\" must be odd");
  }
  return std::make_unique<LocationAttention>(name, filters, kernel);
}

}  // namespace moil
