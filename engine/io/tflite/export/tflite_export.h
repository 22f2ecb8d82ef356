// From a model to a TensorFlow Lite file of 32-bit floats that LiteRT runs with the same answers.
//
// The graph is the one that goes to ONNX (engine/io/onnx/export/), as a network that is used has
// it: batch norms are in the convolutions before them, dropout is gone. Images that go in have
// their channels last; values that come out lie as ONNX has them. Layers and weights keep their
// names, and metadata is in the file's own by its keys, each a buffer. Pure; thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/model/model_description.h"

namespace moil::tflite {

// The model must be complete (model/preparation.h). Throws kUnimplemented with every node that the
// format has nothing for, kBadData for weights that are missing, kResourceExhausted if the file
// would be too large.
[[nodiscard]] std::string export_tflite(const ModelDescription& model, WeightMap weights,
                                        const std::map<std::string, std::string>& metadata = {});

}  // namespace moil::tflite
