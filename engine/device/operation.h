// What a planned layer computes, told without its code: all that a processor needs to know to
// compute one of its steps in the layer's place.
//
// Which tensors the steps read and write, and how saved ones are laid out, is as in the layer's own
// code, so that every step may be computed by another processor than the last. Plain data.
#pragma once

#include <cstdint>
#include <variant>

#include "engine/kernels/convolution/conv_shape.h"
#include "engine/kernels/convolution/pooling.h"
#include "engine/kernels/gemm/fused_activation.h"
#include "engine/kernels/rows/activation.h"
#include "engine/kernels/rows/batch_norm.h"

namespace moil::operation {

// y = x * w + b. Weights: w as conv_shape.h says, b [out_channels].
struct Convolution {
  ConvShape shape;
  bool bias = false;
  bool trains_weight = false, trains_bias = false;
  FusedActivation activation = FusedActivation::kNone;
};

// y [rows, units] = x [rows, features] * w' + b. Weights: w [units, features], b [units].
struct FullyConnected {
  std::int64_t rows = 1, features = 1, units = 1;
  bool bias = false;
  bool trains_weight = false, trains_bias = false;
  FusedActivation activation = FusedActivation::kNone;
};

// Weights: gamma, beta, running mean, running variance [channels]. Saved 0: the batch's mean and
// 1 / deviation [2, channels]; saved 1: sums of dy and of dy (x - mean) [2, channels], which CG
// leaves to CD.
struct BatchNorm {
  RowShape shape;
  double epsilon = 1e-5, momentum = 0.1;
  bool batch_statistics = false;  // of the batch, which the running ones follow
  bool trains_gamma = false, trains_beta = false;
  bool keeps_statistics = false;  // saved 0 is there
  bool keeps_sums = false;        // saved 1 is there
};

// CD reads the output if derivative_from_output(kind), otherwise the input.
struct Activation {
  ActivationKind kind = ActivationKind::kRelu;
  float slope = 0;
  std::int64_t elements = 0;
};

// Saved 0 if the derivative is computed: argmax_bytes(shape) an output.
struct MaxPool {
  PoolShape shape;
  bool keeps_argmax = false;
};

struct AveragePool {
  PoolShape shape;
};

// [batch, pixels, channels] -> [batch, channels].
struct GlobalAveragePool {
  std::int64_t batch = 1, pixels = 1, channels = 1;
};

// The output is the sum of the inputs; each input's derivative, if wanted, is the output's.
struct Addition {
  std::int64_t elements = 0;
};

// Every output is the input; its derivative is the sum of those outputs' that have one.
struct FanOut {
  std::int64_t elements = 0;
};

// CD reads the output.
struct Softmax {
  std::int64_t rows = 1, columns = 1;
  bool logarithm = false;
};

// Inputs: prediction, target [rows, columns]. Output: the sum of the rows' losses over the divisor.
// CD: of the prediction alone.
struct Loss {
  enum class Kind : std::uint8_t {
    kSoftmaxCrossEntropy,
    kSigmoidCrossEntropy,
    kSquaredError,
    kHuber
  };
  Kind kind = Kind::kSoftmaxCrossEntropy;
  std::int64_t rows = 1, columns = 1;
  double divisor = 1;
  float delta = 1;  // of kHuber
};

// The first: what no other processor computes.
using Operation =
    std::variant<std::monostate, Convolution, FullyConnected, BatchNorm, Activation, MaxPool,
                 AveragePool, GlobalAveragePool, Addition, FanOut, Softmax, Loss>;

}  // namespace moil::operation

namespace moil {
using operation::Operation;
}  // namespace moil
