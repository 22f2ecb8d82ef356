// A model as text says it: named layers, what feeds them, and their properties.
//
// The weights live apart (io/safetensors.h, names "LAYER.WEIGHT"). io/model_json.h reads and writes
// the JSON form. A description is plain data and thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/layers/properties.h"
#include "engine/tensor/spec.h"

namespace moil {

struct InputDescription {
  std::string name;
  std::vector<std::int64_t> dims;            // of one sample, without batch: [C, H, W] or [F]
  ElementType type = ElementType::kFloat32;  // or kInt32
};

struct LayerDescription {
  std::string name;                 // unique among layers and inputs
  std::string type;                 // "conv2d", "batch_norm", ...
  std::vector<std::string> inputs;  // names of inputs or layers ("name:1" for a second output)
  Properties properties;
  // Weights that are another layer's, by this layer's name for them: {"weight": "LAYER.WEIGHT"}.
  std::map<std::string, std::string> shares = {};
};

// Layers may stand in any order that names no layer before it is defined.
struct ModelDescription {
  std::string name;
  std::vector<InputDescription> inputs;
  std::vector<LayerDescription> layers;
  std::vector<std::string> outputs;  // the logits, usually one
};

// Weights of a model by "LAYER.WEIGHT", fp32, in file order (PyTorch's).
struct NamedTensor {
  std::vector<std::int64_t> dims;
  std::vector<float> data;
};
using WeightMap = std::map<std::string, NamedTensor>;

}  // namespace moil
