// What a TensorFlow Lite file says of itself, beside its graph.
#pragma once

#include <map>
#include <string>

#include "tflite_generated.h"

namespace moil::tflite {

// By name; the texts alone, for programs keep tables of their own there, too. The model was
// verified.
[[nodiscard]] std::map<std::string, std::string> metadata_of(const file::Model& model);

}  // namespace moil::tflite
