// One way of computing one step of one convolution: what a kernel provider offers.
//
// The steps are F (kForward), CG (kGradient: of weights and bias) and CD (kDerivative: of the
// input). A kernel object is made for one shape, owns no tensor memory, and works on the pointers
// it is given; so its memory is in the plan. It may hold library handles. run() allocates nothing.
// One thread at a time; run() uses threads inside, as many as there were when the kernel was made
// (kFailedPrecondition otherwise).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernels/convolution/conv_shape.h"
#include "engine/kernels/gemm/fused_activation.h"

namespace moil {

enum class ConvStep : std::uint8_t { kForward, kGradient, kDerivative };
std::string_view to_string(ConvStep step);  // "F", "CG", "CD"

// What F does besides the convolution.
struct ConvFusion {
  bool bias = false;
  FusedActivation activation = FusedActivation::kNone;
  // Inference: weights are packed once, and a sample's result must not depend on its batch.
  bool constant_weights = false;

  friend bool operator==(const ConvFusion&, const ConvFusion&) = default;
};

// Pointers of one run. What the step does not touch may be null.
struct ConvArgs {
  const float* input = nullptr;              // F, CG
  const float* weights = nullptr;            // F unless packed; CD
  const std::byte* packed = nullptr;         // F with constant weights: what pack() wrote; if
                                             // packed_weight_bytes() is 0, weights are read
  const float* bias = nullptr;               // F with fusion.bias
  float* output = nullptr;                   // F: overwritten
  const float* output_derivative = nullptr;  // CG, CD
  float* input_derivative = nullptr;         // CD: overwritten
  float* weight_gradient = nullptr;          // CG
  float* bias_gradient = nullptr;            // CG; null if not wanted
  bool accumulate = false;                   // CG adds to the gradients instead of overwriting
  std::byte* workspace = nullptr;            // workspace_bytes(), aligned to 64; contents arbitrary
};

class ConvKernel {
 public:
  virtual ~ConvKernel() = default;
  ConvKernel() = default;
  ConvKernel(const ConvKernel&) = delete;
  ConvKernel& operator=(const ConvKernel&) = delete;

  virtual std::string_view name() const = 0;  // "native/gemm": provider/algorithm
  virtual std::size_t workspace_bytes() const = 0;
  // For F with constant weights: bytes of the packed form, and its making. pack() may allocate.
  virtual std::size_t packed_weight_bytes() const { return 0; }
  virtual void pack(const float* weights, std::byte* packed) const;
  virtual void run(const ConvArgs& args) const = 0;
};

// A provider of CPU kernels: our own code, OpenBLAS, oneDNN. Stateless and thread-safe.
class KernelProvider {
 public:
  virtual ~KernelProvider() = default;
  virtual std::string_view name() const = 0;

  // All ways this provider has for the step, best guess first; none if it has no sound one.
  // With `exact`, only direct sums of products: no Winograd, no reduced precision. With
  // fusion.constant_weights only algorithms whose result for a sample is the same, to the bit, in
  // any batch and at any place in it. only: the one of this name, for making some compiles code.
  [[nodiscard]] virtual std::vector<std::unique_ptr<ConvKernel>> candidates(
      const ConvShape& shape, ConvStep step, const ConvFusion& fusion, bool exact,
      std::optional<std::string_view> only) const = 0;
};

// The providers of this build, in order of preference if nothing is measured.
const std::vector<const KernelProvider*>& kernel_providers();

}  // namespace moil
