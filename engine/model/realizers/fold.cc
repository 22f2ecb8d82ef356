// The realizers that fold what follows a convolution into it, for inference.
#include <cmath>

#include "base/error.h"
#include "engine/layers/traits.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/insert.h"
#include "engine/model/realizers/realizers.h"
#include "engine/model/weights.h"

namespace moil {
namespace {

bool has_weights_to_fold_into(const std::string& type) {
  return !layer_traits(type).rows_property.empty();
}

double number_or(const Properties& properties, const std::string& name, double fallback) {
  const auto it = properties.find(name);
  if (it == properties.end()) return fallback;
  if (const auto* v = std::get_if<double>(&it->second)) return *v;
  if (const auto* v = std::get_if<std::int64_t>(&it->second)) return static_cast<double>(*v);
  return fallback;
}

bool flag_or(const Properties& properties, const std::string& name, bool fallback) {
  const auto it = properties.find(name);
  const bool* value = it == properties.end() ? nullptr : std::get_if<bool>(&it->second);
  return value ? *value : fallback;
}

const std::vector<float>& weight(const WeightMap& weights, const std::string& name) {
  const auto it = weights.find(name);
  if (it == weights.end())
    throw Error(ErrorCode::kBadData, "the model's weights lack \"" + name + "\"");
  return it->second.data;
}

// y = gamma (x - mean) / sqrt(var + epsilon) + beta, with x = W a + b, is W' a + b'.
void fold_weights(WeightMap& weights, const LayerDescription& source,
                  const LayerDescription& norm) {
  const std::string& layer = source.name;
  const auto& gamma = weight(weights, norm.name + ".gamma");
  const auto& beta = weight(weights, norm.name + ".beta");
  const auto& mean = weight(weights, norm.name + ".running_mean");
  const auto& var = weight(weights, norm.name + ".running_var");
  weight(weights, layer + ".weight");
  NamedTensor& kernel = weights.at(layer + ".weight");
  const std::size_t channels = gamma.size();
  if (kernel.dims.empty() || static_cast<std::size_t>(kernel.dims[0]) != channels ||
      beta.size() != channels || mean.size() != channels || var.size() != channels) {
    throw Error(ErrorCode::kBadData,
                "weights of \"" + norm.name + "\" do not fit those of \"" + layer + "\"");
  }
  if (!flag_or(source.properties, "bias", true)) {
    weights[layer + ".bias"] = {{static_cast<std::int64_t>(channels)},
                                std::vector<float>(channels, 0.0F)};
  }
  std::vector<float> bias = weight(weights, layer + ".bias");
  if (bias.size() != channels) {
    throw Error(ErrorCode::kBadData, "weight \"" + layer + ".bias\" has " +
                                         std::to_string(bias.size()) + " values; its layer needs " +
                                         std::to_string(channels));
  }
  const double epsilon = number_or(norm.properties, "epsilon", 1e-5);
  const std::size_t per_channel = kernel.data.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = gamma[c] / std::sqrt(static_cast<double>(var[c]) + epsilon);
    for (std::size_t i = 0; i < per_channel; ++i) {
      float& w = kernel.data[c * per_channel + i];
      w = static_cast<float>(w * scale);
    }
    bias[c] = static_cast<float>((static_cast<double>(bias[c]) - mean[c]) * scale + beta[c]);
  }
  weights[layer + ".bias"].data = std::move(bias);
  for (const char* name : {".gamma", ".beta", ".running_mean", ".running_var"})
    weights.erase(norm.name + name);
}

// Walks the layers in order; `absorb` tells whether a layer disappears into its source.
template <typename Absorb>
ModelDescription absorb_into_source(const ModelDescription& model, const Absorb& absorb) {
  ModelDescription result = model;
  result.layers.clear();
  const auto readers = count_readers(model);
  std::map<std::string, std::string> instead;
  std::map<std::string, std::size_t> index;
  for (LayerDescription layer : topological_order(model)) {
    const std::string source = layer.inputs.empty() ? "" : layer.inputs[0];
    for (auto& input : layer.inputs) {
      if (const auto it = instead.find(input); it != instead.end()) input = it->second;
    }
    const auto target = layer.inputs.empty() ? index.end() : index.find(layer.inputs[0]);
    const auto reads = readers.find(source);
    if (layer.inputs.size() == 1 && target != index.end() && reads != readers.end() &&
        reads->second == 1 && absorb(result.layers[target->second], layer)) {
      instead[layer.name] = layer.inputs[0];
      continue;
    }
    index[layer.name] = result.layers.size();
    result.layers.push_back(std::move(layer));
  }
  for (auto& output : result.outputs) {
    if (const auto it = instead.find(output); it != instead.end()) output = it->second;
  }
  return result;
}

ModelDescription fold(const ModelDescription& model, WeightMap* weights,
                      const std::set<std::string>* only) {
  return absorb_into_source(model, [&](LayerDescription& source, const LayerDescription& layer) {
    if (only != nullptr && !only->contains(layer.name)) return false;
    if (!layer_traits(layer.type).normalises_over_batch || !has_weights_to_fold_into(source.type) ||
        source.properties.contains("activation") || shares_weights(model, source.name) ||
        shares_weights(model, layer.name)) {
      return false;
    }
    if (weights) fold_weights(*weights, source, layer);
    source.properties["bias"] = true;
    return true;
  });
}

}  // namespace

ModelDescription realize_batch_norm_folding(const ModelDescription& model, WeightMap& weights) {
  return fold(model, &weights, nullptr);
}

ModelDescription realize_batch_norm_folding(const ModelDescription& model) {
  return fold(model, nullptr, nullptr);
}

ModelDescription fold_batch_norms(const ModelDescription& model, WeightMap& weights,
                                  const std::set<std::string>* only) {
  return fold(model, &weights, only);
}

ModelDescription realize_activation_fusion(const ModelDescription& model) {
  return absorb_into_source(model, [](LayerDescription& source, const LayerDescription& layer) {
    if (!layer_traits(layer.type).fuses_into_source || !has_weights_to_fold_into(source.type) ||
        source.properties.contains("activation")) {
      return false;
    }
    source.properties["activation"] = layer.type;
    return true;
  });
}

}  // namespace moil
