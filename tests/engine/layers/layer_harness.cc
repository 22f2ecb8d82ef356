#include "tests/engine/layers/layer_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/layers/factory.h"
#include "engine/layers/weight_order.h"

namespace moil::test {
namespace {

constexpr std::size_t kGuard = 16;
constexpr float kGuardValue = 1234.5F;
const float kNan = std::numeric_limits<float>::quiet_NaN();

KernelSelector& kernels() {
  KernelSelector::Options options;
  options.measure = false;
  static KernelSelector selector(options);
  return selector;
}

std::vector<float> spaced_values(std::size_t count, float range, unsigned seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = range * (2 * (static_cast<float>(i) + 0.5F) / static_cast<float>(count) - 1);
  }
  std::mt19937 random(seed);
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

std::vector<float> uniform_values(std::size_t count, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(low, high);
  std::vector<float> values(count);
  for (float& v : values) v = value(random);
  return values;
}

std::size_t elements(const TensorInfo& info) {
  return static_cast<std::size_t>(info.dims.elements());
}

bool is_loss_type(const std::string& type) {
  return type == "mse" || type == "huber" || type.ends_with("_cross_entropy");
}

}  // namespace

Buffer::Buffer(std::size_t floats, float fill)
    : size_(static_cast<std::ptrdiff_t>(floats)), values_(floats + kGuard, kGuardValue) {
  this->fill(fill);
}

void Buffer::set(const std::vector<float>& values) {
  ASSERT_EQ(values.size(), size());
  std::copy(values.begin(), values.end(), values_.begin());
}

void Buffer::fill(float value) { std::fill(values_.begin(), values_.begin() + size_, value); }

void Buffer::fill_bytes_with_nan() { std::memset(values_.data(), 0xFF, size() * sizeof(float)); }

bool Buffer::guard_intact() const {
  return std::all_of(values_.begin() + size_, values_.end(),
                     [](float v) { return v == kGuardValue; });
}

// What one step is given: memory of its own, so that nothing it should not see is within reach.
struct LayerHarness::Step {
  std::vector<Buffer> inputs, outputs, output_derivatives, input_derivatives, saved;
  Buffer workspace;
  std::vector<const float*> input_pointers, output_derivative_pointers;
  std::vector<float*> output_pointers, input_derivative_pointers, weight_pointers,
      gradient_pointers;
  std::vector<std::byte*> saved_pointers;
  LayerRun run;

  void point() {
    run.inputs = input_pointers;
    run.outputs = output_pointers;
    run.output_derivatives = output_derivative_pointers;
    run.input_derivatives = input_derivative_pointers;
    run.weights = weight_pointers;
    run.gradients = gradient_pointers;
    run.saved = saved_pointers;
    run.workspace = reinterpret_cast<std::byte*>(workspace.data());
  }
};

LayerHarness::~LayerHarness() = default;

LayerHarness::LayerHarness(const LayerSpec& spec, const HarnessOptions& options)
    : spec_(spec), options_(options), layer_(make_layer(spec.type, "test", spec.properties)) {
  for (const Dims& dims : spec.inputs) {
    const bool image = dims.rank() == 4 && !spec.plain;
    setup_.inputs.push_back({dims, image ? Layout::kChannelsLast : Layout::kPlain});
  }
  if (!spec.lengths.empty()) setup_.inputs.back().type = ElementType::kInt32;
  setup_.outputs = layer_->infer_outputs(setup_.inputs);
  specs_ = layer_->weights(setup_.inputs);
  setup_.training = options.training;
  setup_.kernels = options.kernels ? options.kernels : &kernels();
  for (std::size_t w = 0; w < specs_.size(); ++w) {
    setup_.train_weight.push_back(options.train_weight.empty() ? specs_[w].trainable
                                                               : options.train_weight[w]);
  }
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    const bool by_default =
        setup_.inputs[i].type == ElementType::kFloat32 && (!is_loss_type(spec.type) || i == 0);
    setup_.input_needs_derivative.push_back(
        options.input_needs_derivative.empty() ? by_default : options.input_needs_derivative[i]);
  }
  plan_ = layer_->plan(setup_);
  plan_.inputs.resize(setup_.inputs.size(), Lifespan::kForward);
  plan_.outputs.resize(setup_.outputs.size(), Lifespan::kNone);
  for (Lifespan& span : plan_.inputs) span |= Lifespan::kForward;
  for (const auto& s : plan_.saved) saved_.emplace_back((s.bytes + 3) / 4);
  for (std::size_t s = 0; s < saved_.size(); ++s) {
    if (!has(plan_.saved[s].lifespan, Lifespan::kMax)) saved_[s].fill_bytes_with_nan();
  }
  fill_inputs();
  fill_weights();
}

void LayerHarness::fill_inputs() {
  unsigned seed = 1;
  for (const auto& info : setup_.inputs)
    inputs_.push_back(spaced_values(elements(info), options_.input_range, seed++));
  if (is_loss_type(spec_.type))
    inputs_[1] = options_.target.empty() ? uniform_values(elements(setup_.inputs[1]), 0, 1, seed++)
                                         : options_.target;
  if (!spec_.lengths.empty()) {
    ASSERT_EQ(inputs_.back().size(), spec_.lengths.size());
    std::memcpy(inputs_.back().data(), spec_.lengths.data(),
                spec_.lengths.size() * sizeof(std::int32_t));
  }
  for (const auto& info : setup_.outputs) {
    outputs_.emplace_back(elements(info), kNan);
    dy_.push_back(uniform_values(elements(info), -1, 1, seed++));
  }
  if (is_loss_type(spec_.type)) dy_[0] = {1.0F};
  for (const auto& info : setup_.inputs) dx_.emplace_back(elements(info), kNan);
}

void LayerHarness::fill_weights() {
  unsigned seed = 100;
  for (const auto& spec : specs_) {
    const auto count = static_cast<std::size_t>(spec.dims.elements());
    weights_.emplace_back(count);
    gradients_.emplace_back(count, kNan);
    const bool positive = spec.name == "gamma" || spec.name == "running_var";
    set_weight(weights_.size() - 1,
               uniform_values(count, positive ? 0.5F : -0.5F, positive ? 1.5F : 0.5F, seed++));
  }
}

void LayerHarness::set_weight(std::size_t w, const std::vector<float>& file_values) {
  ASSERT_EQ(file_values.size(), weights_[w].size()) << specs_[w].name;
  to_memory_order(specs_[w], file_values.data(), weights_[w].data());
}

void LayerHarness::set_output_derivative(std::size_t o, const std::vector<float>& values) {
  ASSERT_EQ(values.size(), dy_[o].size());
  dy_[o] = values;
}

std::vector<float> LayerHarness::weight(std::size_t w) const {
  const auto memory = weights_[w].values();
  std::vector<float> file(memory.size());
  to_file_order(specs_[w], memory.data(), file.data());
  return file;
}

std::vector<float> LayerHarness::gradient(std::size_t w) const {
  const auto memory = gradients_[w].values();
  std::vector<float> file(memory.size());
  to_file_order(specs_[w], memory.data(), file.data());
  return file;
}

std::vector<Buffer> LayerHarness::views_of(const std::vector<std::vector<float>>& values,
                                           const std::vector<Lifespan>& lifespans,
                                           Lifespan step) const {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    buffers.emplace_back(values[i].size(), kNan);
    if (has(lifespans[i], step)) buffers.back().set(values[i]);
  }
  return buffers;
}

LayerHarness::Step LayerHarness::begin(Lifespan lifespan, std::size_t workspace) {
  Step step;
  step.inputs = views_of(inputs_, plan_.inputs, lifespan);
  step.outputs = views_of(outputs_, plan_.outputs, lifespan);
  step.workspace = Buffer((workspace + 3) / 4);
  step.workspace.fill_bytes_with_nan();
  for (std::size_t s = 0; s < saved_.size(); ++s) {
    const Lifespan span = plan_.saved[s].lifespan;
    step.saved.push_back(saved_[s]);
    if (!has(span, lifespan) && !has(span, Lifespan::kMax)) step.saved[s].fill_bytes_with_nan();
  }
  for (auto& b : step.inputs) step.input_pointers.push_back(b.data());
  for (auto& b : step.outputs) step.output_pointers.push_back(b.data());
  for (auto& b : step.saved) step.saved_pointers.push_back(reinterpret_cast<std::byte*>(b.data()));
  for (std::size_t w = 0; w < weights_.size(); ++w) {
    step.weight_pointers.push_back(weights_[w].data());
    step.gradient_pointers.push_back(setup_.train_weight[w] ? gradients_[w].data() : nullptr);
  }
  const bool backward = lifespan != Lifespan::kForward;
  const bool reads_derivative = backward && has(plan_.output_derivatives, lifespan);
  for (const auto& values : dy_) {
    step.output_derivatives.emplace_back(values.size(), kNan);
    if (reads_derivative) step.output_derivatives.back().set(values);
  }
  for (auto& b : step.output_derivatives)
    step.output_derivative_pointers.push_back(is_loss() || !backward ? nullptr : b.data());
  for (const auto& values : dx_) step.input_derivatives.emplace_back(values.size(), kNan);
  for (std::size_t i = 0; i < dx_.size(); ++i) {
    const bool wanted =
        lifespan == Lifespan::kComputeDerivative && setup_.input_needs_derivative[i];
    step.input_derivative_pointers.push_back(wanted ? step.input_derivatives[i].data() : nullptr);
  }
  step.run.random_key = options_.random_key;
  return step;
}

void LayerHarness::finish(Step& step, Lifespan lifespan) {
  const auto check = [&](const std::vector<Buffer>& buffers, const char* what) {
    for (const auto& b : buffers) EXPECT_TRUE(b.guard_intact()) << spec_.type << ": " << what;
  };
  check(step.inputs, "wrote behind an input");
  check(step.outputs, "wrote behind an output");
  check(step.output_derivatives, "wrote behind an output derivative");
  check(step.input_derivatives, "wrote behind an input derivative");
  check(step.saved, "wrote behind a saved tensor");
  check(weights_, "wrote behind a weight");
  check(gradients_, "wrote behind a gradient");
  EXPECT_TRUE(step.workspace.guard_intact()) << spec_.type << ": wrote behind its workspace";
  for (std::size_t s = 0; s < saved_.size(); ++s) {
    if (has(plan_.saved[s].lifespan, lifespan) || has(plan_.saved[s].lifespan, Lifespan::kMax))
      saved_[s] = step.saved[s];
  }
}

bool LayerHarness::needed_later(std::size_t input) const {
  const Lifespan span = plan_.inputs[input];
  return (has(span, Lifespan::kComputeGradient) && setup_.computes_gradient()) ||
         (has(span, Lifespan::kComputeDerivative) && setup_.computes_derivative());
}

void LayerHarness::forward() {
  if (options_.in_place && plan_.in_place == InPlace::kSameData) {
    for (auto& output : outputs_) output = inputs_[0];
    return;
  }
  for (auto& output : outputs_) std::fill(output.begin(), output.end(), kNan);
  if (!setup_.training) {
    Step packing = begin(Lifespan::kForward, 0);
    packing.point();
    layer_->weights_changed(packing.run);
    finish(packing, Lifespan::kForward);
  }
  Step step = begin(Lifespan::kForward, plan_.forward_workspace);
  for (std::size_t w = 0; w < step.weight_pointers.size(); ++w) {
    if (!plan_.keeps(w)) step.weight_pointers[w] = nullptr;
  }
  const bool over_input =
      options_.in_place && plan_.in_place == InPlace::kModify && !needed_later(0);
  if (over_input) step.output_pointers[0] = step.inputs[0].data();
  step.point();
  layer_->forward(step.run);
  finish(step, Lifespan::kForward);
  for (std::size_t o = 0; o < outputs_.size(); ++o)
    outputs_[o] = over_input && o == 0 ? step.inputs[0].values() : step.outputs[o].values();
}

void LayerHarness::compute_gradient(bool accumulate) {
  Step step = begin(Lifespan::kComputeGradient, plan_.gradient_workspace);
  step.point();
  step.run.accumulate = accumulate;
  layer_->compute_gradient(step.run);
  finish(step, Lifespan::kComputeGradient);
}

void LayerHarness::compute_derivative() {
  if (options_.in_place && plan_.derivative_in_place == InPlace::kSameData) {
    for (std::size_t i = 0; i < dx_.size(); ++i) {
      if (setup_.input_needs_derivative[i]) dx_[i] = dy_[0];
    }
    return;
  }
  Step step = begin(Lifespan::kComputeDerivative, plan_.derivative_workspace);
  const bool over_derivative = options_.in_place && plan_.derivative_in_place == InPlace::kModify &&
                               setup_.input_needs_derivative[0];
  if (over_derivative) step.input_derivative_pointers[0] = step.output_derivatives[0].data();
  step.point();
  layer_->compute_derivative(step.run);
  finish(step, Lifespan::kComputeDerivative);
  for (std::size_t i = 0; i < dx_.size(); ++i) {
    dx_[i] = over_derivative && i == 0 ? step.output_derivatives[0].values()
                                       : step.input_derivatives[i].values();
  }
}

void LayerHarness::backward(bool accumulate) {
  if (setup_.computes_gradient()) compute_gradient(accumulate);
  if (setup_.computes_derivative()) compute_derivative();
}

std::string error_of(const LayerSpec& spec, bool training) {
  try {
    HarnessOptions options;
    options.training = training;
    LayerHarness harness(spec, options);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == ErrorCode::kInvalidArgument || e.code() == ErrorCode::kUnimplemented);
    return e.what();
  }
  return "";
}

void expect_refused(const LayerSpec& spec, const std::string& part, bool training) {
  const std::string said = error_of(spec, training);
  EXPECT_NE(said.find(part), std::string::npos) << said << ", expected " << part;
}

}  // namespace moil::test
