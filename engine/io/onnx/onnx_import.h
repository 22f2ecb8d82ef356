// From an ONNX graph to a model description with weights (docs/onnx.md lists the operators).
//
// Constants are folded, shapes are inferred with the engine's own layers, and what exporters write
// in several nodes (padding before a convolution, SiLU, hard-swish, a bias added behind a product)
// becomes the one layer that it means. Tensors keep the logical dims of the file.
// A layer is named after its weights if they follow "LAYER.weight", else after its node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/io/onnx/onnx_graph.h"
#include "engine/model/model_description.h"

namespace moil::onnx {

inline constexpr std::int64_t kOldestOpset = 7, kNewestOpset = 23;

struct ImportOptions {
  std::string name;                            // of the model; empty: the graph's
  std::vector<std::int64_t> input_dims;        // of one sample, if the file leaves them open
  std::string input_dims_name = "input_dims";  // as messages call it: a program's option
  std::string output;                          // of the graph's, if there are several
  std::string output_name = "output";          // likewise
};

struct ImportedModel {
  ModelDescription description;
  WeightMap weights;
  std::vector<std::string> remarks;  // what is not as in the file, a sentence each
  bool takes_bytes = false;          // its input is numbers from 0 to 255 in the file
};

// Throws kUnimplemented with one line for every node that is not supported, kBadData for a graph
// that contradicts itself (a cycle, unknown names, shapes that do not fit), kInvalidArgument if
// an input's dims are neither in the file nor given, or
// given otherwise than in the file, or if none of several outputs is named.
[[nodiscard]] ImportedModel import_onnx(const Graph& graph, const ImportOptions& options = {});

}  // namespace moil::onnx
