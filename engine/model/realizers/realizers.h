// Realizers (NNTrainer 2022, Table 1): passes from a model description to a model description.
//
// Each does one thing, leaves its argument alone and may be run by itself. The order in which they
// are applied is the caller's (model/preparation.h). All throw kInvalidArgument naming the layer.
#pragma once

#include <set>
#include <string>

#include "engine/model/model_description.h"

namespace moil {

// A recurrent layer with the property "unroll" becomes its cells, one a step of its sequence: the
// first has the layer's name and weights, which the others share (create mode E), so that weights
// fit either form. Needs the shapes, as realize_flatten() does.
[[nodiscard]] ModelDescription realize_recurrent(const ModelDescription& model);

// A layer that names no input but has the property "input_shape" (dims of one sample) gets an input
// of the model, "LAYER/input".
[[nodiscard]] ModelDescription realize_inputs(const ModelDescription& model);

// The property "activation" of a layer becomes a layer of its own behind it, "LAYER/activation",
// that all who read the layer read.
[[nodiscard]] ModelDescription realize_activation(const ModelDescription& model);

// A built-in layer that takes one input and names several gets them joined along axis 1 by
// "LAYER/concat".
[[nodiscard]] ModelDescription realize_concat(const ModelDescription& model);

// The property "flatten" of a layer becomes a layer of its own behind it, "LAYER/flatten"; a fully
// connected layer that reads an image gets "LAYER/flattened_input" before it. Needs the shapes, and
// so a model whose layers can be built otherwise.
[[nodiscard]] ModelDescription realize_flatten(const ModelDescription& model);

// Drops layers on which no output depends.
[[nodiscard]] ModelDescription realize_pruning(const ModelDescription& model);

// Drops layers that do nothing at inference (dropout, identity), rewiring what they fed.
[[nodiscard]] ModelDescription realize_inference(const ModelDescription& model);

// Appends the loss layer `loss_type` over the only output and a target input of the same dims;
// the loss becomes the only output. Names: "loss", "target", or fresh ones (insert.h). A softmax or
// sigmoid at the end (model/ending.h) that the loss has inside is left out: it reads what feeds it.
[[nodiscard]] ModelDescription realize_loss(const ModelDescription& model,
                                            const std::string& loss_type,
                                            const std::vector<std::int64_t>& target_dims);

// ReLU and max pooling that follows it change places: the same values and derivatives to the bit,
// but what is kept for the activation's derivative is the pooled tensor, a quarter of the other
// (training; at inference the activation is better fused into the convolution).
[[nodiscard]] ModelDescription realize_pooling_first(const ModelDescription& model);

// A value read more than once gets a multi_out layer, so that every value has one reader and its
// derivative one writer. If there are many readers, each has a multi_out for itself and the readers
// behind it.
[[nodiscard]] ModelDescription realize_multi_out(const ModelDescription& model);

// Batch norm after a convolution or fully connected layer that nobody else reads is folded into its
// weights (inference only). Changes the weights accordingly; running statistics are used.
[[nodiscard]] ModelDescription realize_batch_norm_folding(const ModelDescription& model,
                                                          WeightMap& weights);
// The same of the description alone.
[[nodiscard]] ModelDescription realize_batch_norm_folding(const ModelDescription& model);

// An activation whose only source is a convolution or fully connected layer that nobody else reads
// becomes that layer's property (inference only).
[[nodiscard]] ModelDescription realize_activation_fusion(const ModelDescription& model);

// Batch norms outside `trainable` layers use their running statistics in training, too.
[[nodiscard]] ModelDescription realize_frozen(const ModelDescription& model,
                                              const std::set<std::string>& trainable_layers);

struct Slices {
  ModelDescription backbone;  // from the model's inputs to the split value
  ModelDescription head;      // from an input of that name to the model's outputs
};
// Cuts the model at the value `split`, which must carry everything behind it. split_dims: of one
// sample.
[[nodiscard]] Slices realize_slice(const ModelDescription& model, const std::string& split,
                                   const std::vector<std::int64_t>& split_dims);

// How often each value ("layer", "layer:1") is read, the model's outputs included.
std::map<std::string, int> count_readers(const ModelDescription& model);

}  // namespace moil
