// The orders in which realizers are applied: to complete a model, for training and for inference.
#pragma once

#include <set>
#include <string>

#include "engine/model/model_description.h"

namespace moil {

// The model in full: what a description may leave out (inputs, activation, concat and flatten
// layers) made explicit, recurrent layers unrolled that are to be. A model that leaves out nothing
// stays as it is. Freezing (freeze.h), slicing, surgery and fresh weights take complete models.
[[nodiscard]] ModelDescription complete_model(const ModelDescription& model);

// For training: completed, unneeded layers dropped, batch norms outside `trainable_layers` frozen,
// the loss appended (inputs: the model's, then the target; the only output: the loss), fan-outs
// made explicit. model/ending.h has the same for a loss with properties.
[[nodiscard]] ModelDescription prepare_training(const ModelDescription& model,
                                                const std::string& loss_type,
                                                const std::set<std::string>& trainable_layers);

// For inference: completed, unneeded layers and dropout dropped, batch norms folded, activations
// fused. Changes the weights to those of the prepared model.
[[nodiscard]] ModelDescription prepare_inference(const ModelDescription& model, WeightMap& weights);
// The same of the description alone.
[[nodiscard]] ModelDescription prepare_inference(const ModelDescription& model);

// "LAYER.WEIGHT" of every trainable weight of the layers named that an output depends on; all
// layers if `layers` is null.
[[nodiscard]] std::set<std::string> trainable_weights(const ModelDescription& model,
                                                      const std::set<std::string>* layers);

}  // namespace moil
