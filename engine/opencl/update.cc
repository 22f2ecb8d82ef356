#include "engine/opencl/update.h"

namespace moil::opencl {
namespace {

constexpr const char* kUpdateSource = R"CL(
kernel void sgd(global float* weight, global const float* gradient, global float* m, float rate,
                float gradient_scale, float decay, float momentum, float shrink, int nesterov,
                int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const float w = weight[i];
  float g = gradient[i] * gradient_scale + w * decay;
  if (m) {
    const float next = m[i] * momentum + g;
    m[i] = next;
    g = nesterov ? next * momentum + g : next;
  }
  weight[i] = w * shrink - rate * g;
}

kernel void adam(global float* weight, global const float* gradient, global float* m,
                 global float* v, float rate, float gradient_scale, float decay, float shrink,
                 float beta1, float beta2, float rest1, float rest2, float root_scale,
                 float epsilon, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const float w = weight[i];
  const float g = gradient[i] * gradient_scale + w * decay;
  const float first = m[i] * beta1 + g * rest1, second = v[i] * beta2 + g * g * rest2;
  m[i] = first;
  v[i] = second;
  weight[i] = w * shrink - rate * (first / (sqrt(second) * root_scale + epsilon));
}
)CL";

}  // namespace

Updates::Updates(Device& device)
    : sgd_(device, kUpdateSource, "sgd"), adam_(device, kUpdateSource, "adam") {}

void Updates::run(const RangeMemory& memory, const SgdCoefficients& k, const UpdateRanges& r) {
  sgd_.run(r.elements, memory.buffer(r.weight), memory.buffer(r.gradient),
           memory.buffer(r.first_state), k.rate, k.gradient_scale, k.decay, k.momentum, k.shrink,
           k.nesterov);
}

void Updates::run(const RangeMemory& memory, const AdamCoefficients& k, const UpdateRanges& r) {
  adam_.run(r.elements, memory.buffer(r.weight), memory.buffer(r.gradient),
            memory.buffer(r.first_state), memory.buffer(r.second_state), k.rate, k.gradient_scale,
            k.decay, k.shrink, k.beta1, k.beta2, k.rest1, k.rest2, k.root_scale, k.epsilon);
}

}  // namespace moil::opencl
