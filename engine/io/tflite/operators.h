// The operators of TensorFlow Lite that become nodes.
#pragma once

#include <map>
#include <string>

#include "engine/io/tflite/translator.h"

namespace moil::tflite {

// Writes the nodes of the operator that the translator has entered. Throws Untranslatable.
using Translate = void (*)(Translator& t);

struct OperatorKind {
  std::string name;  // as the format has it
  Translate translate = nullptr;
};
using OperatorKinds = std::map<int, OperatorKind>;  // by the format's number

void add_windows(OperatorKinds& kinds);       // convolutions, pools, padding, other sizes
void add_arithmetic(OperatorKinds& kinds);    // products, sums, activations, means
void add_spectra(OperatorKinds& kinds);       // Fourier transforms
void add_arrangements(OperatorKinds& kinds);  // reshapes, slices, what is joined and cut

[[nodiscard]] const OperatorKinds& operator_kinds();

// Whether an operator of that number does to real parts what it does to complex numbers.
[[nodiscard]] bool keeps_complex_numbers(int kind);

}  // namespace moil::tflite
