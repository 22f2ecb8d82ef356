// Two-dimensional convolution: [N, I, H, W] to [N, O, OH, OW], channels-last in memory.
//
// Properties: out_channels, kernel (one or [h, w]), stride (1), padding (0; one, [h, w] or
// [top, left, bottom, right]), dilation (1), groups (1), bias (true), activation ("none", "relu",
// "relu6": fused, for inference only). Weights: "weight" [O, I/g, KH, KW] and "bias" [O].
//
// The arithmetic is the kernel selector's choice, step by step. In inference plans the weights are
// packed once, into a saved tensor. The input lives until CG only if the weight itself trains.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

// Throws kInvalidArgument naming the layer and the property.
[[nodiscard]] std::unique_ptr<Layer> make_conv2d(const std::string& name,
                                                 const Properties& properties);

}  // namespace moil
