// Runs one layer by itself, as strictly as a plan allows.
//
// Every tensor has memory of its own with guards behind it. A step gets a tensor's data only if
// the layer's plan says that the step reads it, and NaNs otherwise; workspaces and saved tensors
// start as NaNs. So a layer that reads what it did not declare computes NaNs here.
// In place, F writes over its input and CD over the derivative if the plan wishes it and it would
// be legal in a graph.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"
#include "engine/tensor/planner.h"

namespace moil::test {

struct LayerSpec {
  std::string type;
  Properties properties;
  std::vector<Dims> inputs;  // rank 4: channels-last, unless
  bool plain = false;        // every input lies row-major
  // The last input, int32, if there are any.
  std::vector<std::int32_t> lengths = {};
};

struct HarnessOptions {
  bool training = true;
  bool in_place = false;
  std::vector<bool> train_weight = {};            // empty: all that are trainable
  std::vector<bool> input_needs_derivative = {};  // empty: all floats (of a loss, the first)
  std::uint64_t random_key = 42;
  KernelSelector* kernels = nullptr;  // null: one that measures nothing
  std::vector<float> target = {};     // of a loss; empty: numbers from 0 to 1
  float input_range = 2;  // inputs are distinct values in [-range, range], evenly spaced
};

// As the pool aligns: layers may count on it.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kAlignment)));
  }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(kAlignment)); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

// Aligned floats with a guard zone behind them.
class Buffer {
 public:
  explicit Buffer(std::size_t floats = 0, float fill = 0);
  float* data() { return values_.data(); }
  std::vector<float> values() const { return {values_.begin(), values_.begin() + size_}; }
  void set(const std::vector<float>& values);
  void fill(float value);
  void fill_bytes_with_nan();
  bool guard_intact() const;
  std::size_t size() const { return static_cast<std::size_t>(size_); }

 private:
  std::ptrdiff_t size_;
  std::vector<float, AlignedAllocator<float>> values_;
};

class LayerHarness {
 public:
  explicit LayerHarness(const LayerSpec& spec, const HarnessOptions& options = {});
  ~LayerHarness();

  // Values in memory order ([N,H,W,C] for images; weights as files have them).
  void set_input(std::size_t i, const std::vector<float>& values) { inputs_[i] = values; }
  void set_weight(std::size_t w, const std::vector<float>& file_values);
  void set_output_derivative(std::size_t o, const std::vector<float>& values);
  const std::vector<float>& input(std::size_t i) const { return inputs_[i]; }
  std::vector<float> weight(std::size_t w) const;  // in file order
  const std::vector<float>& output_derivative(std::size_t o) const { return dy_[o]; }

  void forward();
  void backward(bool accumulate = false);  // CG and CD, as far as the options need them

  const std::vector<float>& output(std::size_t o = 0) const { return outputs_[o]; }
  const std::vector<float>& input_derivative(std::size_t i = 0) const { return dx_[i]; }
  std::vector<float> gradient(std::size_t w) const;  // in file order

  const LayerPlan& plan() const { return plan_; }
  const LayerSetup& setup() const { return setup_; }
  const std::vector<WeightSpec>& weight_specs() const { return specs_; }
  std::size_t outputs() const { return outputs_.size(); }
  bool is_loss() const { return plan_.output_derivatives == Lifespan::kNone; }

 private:
  struct Step;
  bool needed_later(std::size_t input) const;
  void fill_inputs();
  void fill_weights();
  void compute_gradient(bool accumulate);
  void compute_derivative();
  std::vector<Buffer> views_of(const std::vector<std::vector<float>>& values,
                               const std::vector<Lifespan>& lifespans, Lifespan step) const;
  Step begin(Lifespan step, std::size_t workspace);
  void finish(Step& step, Lifespan lifespan);

  LayerSpec spec_;
  HarnessOptions options_;
  std::unique_ptr<Layer> layer_;
  LayerSetup setup_;
  LayerPlan plan_;
  std::vector<WeightSpec> specs_;
  std::vector<std::vector<float>> inputs_, outputs_, dy_, dx_;
  std::vector<Buffer> weights_, gradients_, saved_;
};

// The derivatives of sum(output_derivative * output) by every input and weight, against central
// differences; in place and not; in place gives the same bits.
void expect_gradients(const LayerSpec& spec, HarnessOptions options = {}, double tolerance = 5e-3);

// One thread and several give the same bits, forward and backward.
void expect_thread_independent(const LayerSpec& spec, HarnessOptions options = {});

// At inference each sample alone gives the bits that it gives in the batch.
void expect_batch_independent(const LayerSpec& spec);

// make_layer and infer_outputs on these: the text of the error, or "" if none is thrown.
std::string error_of(const LayerSpec& spec, bool training = false);
// The error has this part.
void expect_refused(const LayerSpec& spec, const std::string& part, bool training = false);

}  // namespace moil::test
