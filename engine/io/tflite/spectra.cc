// Fourier transforms of frames, as products with cosines. Of a complex number the graph has the
// real part alone: converters take that one with a CAST.
#include <cmath>
#include <numbers>

#include "engine/io/tflite/operators.h"

namespace moil::tflite {
namespace {

constexpr std::int64_t kLongestFrame = 8192;

void translate_real_transform(Translator& t) {
  const Ints lengths = t.input_ints(1);
  if (lengths.size() != 2 || lengths[0] != 1)
    throw Untranslatable("only transforms along the last axis are supported");
  const std::int64_t n = lengths[1], bins = n / 2 + 1;
  if (n < 1 || n > kLongestFrame)
    throw Untranslatable("only transforms of up to " + std::to_string(kLongestFrame) +
                         " numbers are supported");
  std::vector<float> cosines;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t b = 0; b < bins; ++b)
      cosines.push_back(static_cast<float>(std::cos(
          2 * std::numbers::pi * static_cast<double>(j * b % n) / static_cast<double>(n))));
  t.end("MatMul", {t.input(0), t.numbers({n, bins}, std::move(cosines))});
}

}  // namespace

bool keeps_complex_numbers(int kind) {
  constexpr int kReshape = 22, kSqueeze = 43, kCast = 53, kExpandDims = 70;
  return kind == kReshape || kind == kSqueeze || kind == kCast || kind == kExpandDims;
}

void add_spectra(OperatorKinds& kinds) {
  kinds.insert({{131, {"RFFT2D", translate_real_transform}}});
}

}  // namespace moil::tflite
