// Small files that hold what converters write.
#pragma once

#include "tests/engine/io/tflite/builder.h"

namespace moil::tflite::test {

// How the weights of the small classifier are kept.
enum class Kept { kFloats, kHalves, kBytes, kBytesOfChannels };

// An image of 6x6 and 2 channels: a convolution with ReLU6, one by channels, their mean, 3 classes.
// Weights are -1, 0 and 1, which all ways of keeping them hold.
[[nodiscard]] std::string small_classifier(Kept kept = Kept::kFloats,
                                           TensorType input = TensorType::FLOAT32);
// Operators on a sequence [4, 6]: slices, parts joined again, a norm in pieces, constants of
// shapes.
[[nodiscard]] std::string small_arrangement();
// The power 0.375 of the squares of two bands of a spectrum's real part, the second band first:
// windows of 8 numbers, 4 apart, of 16. The dims are computed from the input's; the
// file's own dims of computed tensors are of no use, as converters leave them.
enum class Spectrum {
  kReal,
  kMagnitude,  // refused: it needs the imaginary part
  kOfRows,     // refused: a transform along two axes
};
[[nodiscard]] std::string small_spectrum(Spectrum what = Spectrum::kReal);
// As an export writes it, with metadata.
[[nodiscard]] std::string small_export();

}  // namespace moil::tflite::test
