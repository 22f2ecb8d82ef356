#include "tests/engine/device/guarded_processor.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/index.h"
#include "engine/kernels/rows/update.h"

namespace moil::test {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

class GuardedMemory : public ProcessorMemory {
 public:
  GuardedMemory(std::span<std::byte> pool, std::span<const MemoryRange> ranges)
      : pool_(pool), ranges_(ranges.begin(), ranges.end()) {
    for (const MemoryRange& range : ranges)
      own_.emplace_back(range.bytes / sizeof(float), kNoNumber);
  }
  void finish() override {}
  bool is_lost() const override { return false; }
  // For a step.
  virtual float* data(RangeId range) = 0;

 protected:
  std::span<float> host(RangeId range) const {
    return {reinterpret_cast<float*>(&pool_[ranges_[at(range)].offset]), own_[at(range)].size()};
  }
  std::span<float> own(RangeId range) { return own_[at(range)]; }
  static void copy(std::span<const float> from, std::span<float> to) {
    std::copy(from.begin(), from.end(), to.begin());
  }
  static void spoil(std::span<float> values) { std::fill(values.begin(), values.end(), kNoNumber); }

 private:
  std::span<std::byte> pool_;
  std::vector<MemoryRange> ranges_;
  std::vector<std::vector<float>> own_;  // by range
};

// Each side has a copy.
class CopyingMemory final : public GuardedMemory {
 public:
  using GuardedMemory::GuardedMemory;
  void take(RangeId range, bool contents) override {
    contents ? copy(host(range), own(range)) : spoil(own(range));
  }
  void give(RangeId range, bool contents, bool) override {
    contents ? copy(own(range), host(range)) : spoil(host(range));
  }
  void retire(RangeId range) override { spoil(own(range)); }
  float* data(RangeId range) override { return own(range).data(); }
};

// Who holds a range has its values, and whoever does not has none.
class SharedMemory final : public GuardedMemory {
 public:
  SharedMemory(std::span<std::byte> pool, std::span<const MemoryRange> ranges)
      : GuardedMemory(pool, ranges), holders_(ranges.size(), Holder::kNobody) {}
  void take(RangeId range, bool contents) override {
    if (holders_[at(range)] == Holder::kHost) copy(host(range), own(range));
    if (!contents) spoil(own(range));
    hold(range);
  }
  void give(RangeId range, bool contents, bool writes) override {
    if (holders_[at(range)] == Holder::kSelf) copy(own(range), host(range));
    if (!contents) spoil(host(range));
    holders_[at(range)] = writes ? Holder::kHost : Holder::kBoth;
    if (writes) spoil(own(range));
  }
  void retire(RangeId range) override { holders_[at(range)] = Holder::kNobody; }
  float* data(RangeId range) override {
    Holder& holder = holders_[at(range)];
    if (holder == Holder::kHost) throw std::logic_error("a step on a range that the host has");
    if (holder == Holder::kNobody) {
      spoil(own(range));
      hold(range);
    }
    return own(range).data();
  }

 private:
  enum class Holder : std::uint8_t { kNobody, kHost, kSelf, kBoth };
  void hold(RangeId range) {
    spoil(host(range));
    holders_[at(range)] = Holder::kSelf;
  }
  std::vector<Holder> holders_;
};

GuardedMemory& guarded(ProcessorMemory& memory) { return dynamic_cast<GuardedMemory&>(memory); }

class GuardedStep : public ProcessorStep {
 public:
  explicit GuardedStep(StepKind kind) : kind_(kind) {}
  void run(ProcessorMemory& memory, const StepCall& call) override {
    if (kind_ == StepKind::kForward)
      forward(guarded(memory), call.ranges);
    else if (kind_ == StepKind::kComputeGradient)
      gradient(guarded(memory), call.ranges, call.accumulate);
    else
      derivative(guarded(memory), call.ranges);
  }

 private:
  virtual void forward(GuardedMemory& m, const StepRanges& r) = 0;
  virtual void gradient(GuardedMemory&, const StepRanges&, bool) {}
  virtual void derivative(GuardedMemory& m, const StepRanges& r) = 0;
  const StepKind kind_;
};

class Activation final : public GuardedStep {
 public:
  Activation(const operation::Activation& op, StepKind kind) : GuardedStep(kind), op_(op) {}

 private:
  void forward(GuardedMemory& m, const StepRanges& r) override {
    activate(op_.kind, op_.slope, m.data(r.inputs[0]), m.data(r.outputs[0]), 0, op_.elements);
  }
  void derivative(GuardedMemory& m, const StepRanges& r) override {
    const RangeId saved = derivative_from_output(op_.kind) ? r.outputs[0] : r.inputs[0];
    activation_derivative(op_.kind, op_.slope, m.data(saved), m.data(r.output_derivatives[0]),
                          m.data(r.input_derivatives[0]), 0, op_.elements);
  }
  const operation::Activation op_;
};

void add_up(GuardedMemory& m, const std::vector<RangeId>& from, RangeId to, std::int64_t elements) {
  std::vector<float> sum(at(elements), 0.0F);
  for (const RangeId range : from)
    for (std::int64_t i = 0; range != kNoRange && i < elements; ++i) sum[at(i)] += m.data(range)[i];
  std::copy(sum.begin(), sum.end(), m.data(to));
}

class Addition final : public GuardedStep {
 public:
  Addition(const operation::Addition& op, StepKind kind) : GuardedStep(kind), op_(op) {}

 private:
  void forward(GuardedMemory& m, const StepRanges& r) override {
    add_up(m, r.inputs, r.outputs[0], op_.elements);
  }
  void derivative(GuardedMemory& m, const StepRanges& r) override {
    for (const RangeId to : r.input_derivatives)
      if (to != kNoRange) add_up(m, {r.output_derivatives[0]}, to, op_.elements);
  }
  const operation::Addition op_;
};

class FanOut final : public GuardedStep {
 public:
  FanOut(const operation::FanOut& op, StepKind kind) : GuardedStep(kind), op_(op) {}

 private:
  void forward(GuardedMemory& m, const StepRanges& r) override {
    for (const RangeId to : r.outputs) add_up(m, {r.inputs[0]}, to, op_.elements);
  }
  void derivative(GuardedMemory& m, const StepRanges& r) override {
    add_up(m, r.output_derivatives, r.input_derivatives[0], op_.elements);
  }
  const operation::FanOut op_;
};

class FullyConnected final : public GuardedStep {
 public:
  FullyConnected(const operation::FullyConnected& op, StepKind kind) : GuardedStep(kind), op_(op) {}

 private:
  void forward(GuardedMemory& m, const StepRanges& r) override {
    const float *x = m.data(r.inputs[0]), *w = m.data(r.weights[0]);
    const float* bias = op_.bias ? m.data(r.weights[1]) : nullptr;
    float* y = m.data(r.outputs[0]);
    for (std::int64_t row = 0; row < op_.rows; ++row) {
      for (std::int64_t u = 0; u < op_.units; ++u) {
        double sum = bias != nullptr ? bias[u] : 0;
        for (std::int64_t f = 0; f < op_.features; ++f)
          sum += double{x[row * op_.features + f]} * double{w[u * op_.features + f]};
        y[row * op_.units + u] = static_cast<float>(sum);
      }
    }
  }
  void gradient(GuardedMemory& m, const StepRanges& r, bool accumulate) override {
    const float* dy = m.data(r.output_derivatives[0]);
    if (op_.trains_weight) {
      const float* x = m.data(r.inputs[0]);
      float* dw = m.data(r.gradients[0]);
      for (std::int64_t u = 0; u < op_.units; ++u)
        for (std::int64_t f = 0; f < op_.features; ++f)
          put(dw[u * op_.features + f], accumulate, [&](std::int64_t row) {
            return double{dy[row * op_.units + u]} * double{x[row * op_.features + f]};
          });
    }
    if (!op_.trains_bias) return;
    float* db = m.data(r.gradients[1]);
    for (std::int64_t u = 0; u < op_.units; ++u)
      put(db[u], accumulate, [&](std::int64_t row) { return double{dy[row * op_.units + u]}; });
  }
  void derivative(GuardedMemory& m, const StepRanges& r) override {
    const float *dy = m.data(r.output_derivatives[0]), *w = m.data(r.weights[0]);
    float* dx = m.data(r.input_derivatives[0]);
    for (std::int64_t row = 0; row < op_.rows; ++row) {
      for (std::int64_t f = 0; f < op_.features; ++f) {
        double sum = 0;
        for (std::int64_t u = 0; u < op_.units; ++u)
          sum += double{dy[row * op_.units + u]} * double{w[u * op_.features + f]};
        dx[row * op_.features + f] = static_cast<float>(sum);
      }
    }
  }
  // The sum over the rows.
  template <class Term>
  void put(float& to, bool accumulate, const Term& term) const {
    double sum = accumulate ? to : 0;
    for (std::int64_t row = 0; row < op_.rows; ++row) sum += term(row);
    to = static_cast<float>(sum);
  }
  const operation::FullyConnected op_;
};

class GuardedProcessor final : public Processor {
 public:
  explicit GuardedProcessor(bool shares_memory) : shares_memory_(shares_memory) {}
  std::string_view name() const override { return "guarded"; }
  std::string device() const override { return "made up"; }
  bool is_the_cpu() const override { return false; }
  bool shares_memory() const override { return shares_memory_; }
  std::size_t alignment() const override { return shares_memory_ ? 64 : 512; }

  std::unique_ptr<ProcessorStep> make_step(const Operation& operation, StepKind kind) override {
    if (const auto* op = std::get_if<operation::Activation>(&operation))
      return std::make_unique<Activation>(*op, kind);
    if (const auto* op = std::get_if<operation::Addition>(&operation))
      return std::make_unique<Addition>(*op, kind);
    if (const auto* op = std::get_if<operation::FanOut>(&operation))
      return std::make_unique<FanOut>(*op, kind);
    const auto* op = std::get_if<operation::FullyConnected>(&operation);
    if (op == nullptr || op->activation != FusedActivation::kNone) return nullptr;
    return std::make_unique<FullyConnected>(*op, kind);
  }

  void update(ProcessorMemory& memory, const SgdCoefficients& k, const UpdateRanges& r) override {
    GuardedMemory& m = guarded(memory);
    sgd_update(k, m.data(r.weight), m.data(r.gradient), m.data(r.first_state), 0, r.elements);
  }
  void update(ProcessorMemory& memory, const AdamCoefficients& k, const UpdateRanges& r) override {
    GuardedMemory& m = guarded(memory);
    adam_update(k, m.data(r.weight), m.data(r.gradient), m.data(r.first_state),
                m.data(r.second_state), 0, r.elements);
  }

  std::unique_ptr<ProcessorMemory> attach(std::span<std::byte> pool, std::size_t,
                                          std::span<const MemoryRange> ranges) override {
    if (shares_memory_) return std::make_unique<SharedMemory>(pool, ranges);
    return std::make_unique<CopyingMemory>(pool, ranges);
  }

 private:
  const bool shares_memory_;
};

}  // namespace

std::shared_ptr<Processor> make_guarded_processor(bool shares_memory) {
  return std::make_shared<GuardedProcessor>(shares_memory);
}

}  // namespace moil::test
