// Weights that are one in the file and several in the layers that were made of it.
#pragma once

#include <vector>

#include "engine/io/onnx/onnx_import.h"
#include "engine/io/onnx/operators/import_state.h"

namespace moil::onnx {

// Lets the layers of each tie share the weight (LayerDescription::shares); the first of the model
// keeps it. ties: ImportState::ties(). kUnimplemented, naming both nodes, for a weight that has
// another form in each of its layers.
void tie_weights(const std::vector<std::vector<ImportState::Claim>>& ties, ImportedModel& model);

}  // namespace moil::onnx
