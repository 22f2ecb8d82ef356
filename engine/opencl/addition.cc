#include <algorithm>
#include <vector>

#include "engine/opencl/step.h"

namespace moil::opencl {
namespace {

constexpr const char* kAdditionSource = R"CL(
kernel void copy_to(global const float* in, global float* out, int places) {
  const int i = get_global_id(0);
  if (i < places) out[i] = in[i];
}

kernel void add_to(global const float* in, global const float* more, global float* out,
                   int places) {
  const int i = get_global_id(0);
  if (i < places) out[i] = in[i] + more[i];
}
)CL";

class Sums {
 public:
  explicit Sums(Device& device)
      : copy_(device, kAdditionSource, "copy_to"), add_(device, kAdditionSource, "add_to") {}

  // out may lie over any of the terms: what is not yet added must not be overwritten.
  void sum(std::int64_t elements, const RangeMemory& memory, const std::vector<RangeId>& terms,
           cl_mem out) {
    std::vector<cl_mem>& buffers = terms_;  // kept, so that no step allocates
    buffers.clear();
    for (const RangeId term : terms)
      if (term != kNoRange) buffers.push_back(memory.buffer(term));
    const auto over = std::find(buffers.begin(), buffers.end(), out);
    if (over != buffers.end()) std::iter_swap(buffers.begin(), over);
    if (buffers.size() == 1) return copy(elements, buffers[0], out);
    for (std::size_t i = 1; i < buffers.size(); ++i)
      add_.run(elements, i == 1 ? buffers[0] : out, buffers[i], out);
  }
  void copy(std::int64_t elements, cl_mem in, cl_mem out) {
    if (out != nullptr && out != in) copy_.run(elements, in, out);
  }

 private:
  Kernel copy_, add_;
  std::vector<cl_mem> terms_;
};

class Addition final : public StepOf<operation::Addition> {
 public:
  Addition(Device& device, const operation::Addition& op, StepKind kind)
      : StepOf(device, op, kind), sums_(device) {}

 private:
  void forward(const RangeMemory& memory, const StepRanges& r) override {
    sums_.sum(op_.elements, memory, r.inputs, memory.buffer(r.outputs[0]));
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    for (const RangeId range : r.input_derivatives)
      sums_.copy(op_.elements, memory.buffer(r.output_derivatives[0]), memory.buffer(range));
  }

  Sums sums_;
};

class FanOut final : public StepOf<operation::FanOut> {
 public:
  FanOut(Device& device, const operation::FanOut& op, StepKind kind)
      : StepOf(device, op, kind), sums_(device) {}

 private:
  void forward(const RangeMemory& memory, const StepRanges& r) override {
    for (const RangeId range : r.outputs)
      sums_.copy(op_.elements, memory.buffer(r.inputs[0]), memory.buffer(range));
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    sums_.sum(op_.elements, memory, r.output_derivatives, memory.buffer(r.input_derivatives[0]));
  }

  Sums sums_;
};

}  // namespace

Step make_step(Device& device, const operation::Addition& op, StepKind kind) {
  return std::make_unique<Addition>(device, op, kind);
}

Step make_step(Device& device, const operation::FanOut& op, StepKind kind) {
  return std::make_unique<FanOut>(device, op, kind);
}

}  // namespace moil::opencl
