// From a model to an ONNX graph that any runtime reads (opset 14, the batch left open).
//
// Layers keep their names, weights theirs ("LAYER.weight"); importing the result gives the same
// model again. Pure; thread-safe.
#pragma once

#include <map>
#include <string>

#include "engine/io/onnx/export/layer_writer.h"
#include "engine/io/onnx/onnx_graph.h"
#include "engine/model/model_description.h"

namespace moil::onnx {

inline constexpr std::int64_t kExportOpset = 14;

// The model must be complete (model/preparation.h). Throws kUnimplemented naming the layer for
// types that ONNX has no operator for (a user's own), kBadData for weights that are missing.
// instead: how another format has some types.
[[nodiscard]] Graph export_onnx(const ModelDescription& model, const WeightMap& weights,
                                const std::map<std::string, std::string>& metadata = {},
                                const LayerWriters& instead = {});

}  // namespace moil::onnx
