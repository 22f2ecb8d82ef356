#include "engine/opencl/bias.h"

#include <limits>

namespace moil::opencl {
namespace {

// A NaN stays one: a diverged network must not look well.
constexpr const char* kBiasSource = R"CL(
kernel void bias_and_activation(global float* y, global const float* bias, int channels,
                                float least, float most, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  float v = y[i];
  if (bias) v += bias[i % channels];
  v = v < least ? least : v;
  y[i] = v > most ? most : v;
}
)CL";

}  // namespace

BiasAndActivation::BiasAndActivation(Device& device)
    : kernel_(device, kBiasSource, "bias_and_activation") {}

void BiasAndActivation::run(std::int64_t rows, std::int64_t channels, cl_mem y, cl_mem bias,
                            FusedActivation activation) {
  if (bias == nullptr && activation == FusedActivation::kNone) return;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float least = activation == FusedActivation::kNone ? -kInfinity : 0;
  const float most = activation == FusedActivation::kRelu6 ? 6 : kInfinity;
  kernel_.run(rows * channels, y, bias, channels, least, most);
}

}  // namespace moil::opencl
