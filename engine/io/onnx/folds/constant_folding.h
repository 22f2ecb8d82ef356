// Evaluates the nodes of an ONNX graph whose inputs are all known: exporters write shapes, paddings
// and transposed weights as little programs of Gather, Slice, Concat, Cast and the like.
//
// A pure function of its arguments; thread-safe. Written for the sizes of shapes and weights, not
// for speed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/io/onnx/onnx_graph.h"

namespace moil::onnx {

// A node's result may have as many elements as its inputs, but to have more ends here: shapes,
// masks and tables are far smaller.
inline constexpr std::int64_t kMaxGrownElements = std::int64_t{1} << 20;

// The node's first output; nothing if the operator is not one that can be evaluated. inputs:
// null for those left out. Throws kBadData naming the node if its inputs do not fit it.
[[nodiscard]] std::optional<Tensor> fold(const Node& node, std::span<const Tensor* const> inputs);

// Whether fold() knows the operator.
[[nodiscard]] bool can_fold(const Node& node);

// What a Shape node gives for these dims.
[[nodiscard]] Tensor shape_of(const Node& node, const std::vector<std::int64_t>& dims);

// An axis as ONNX counts it, also from the end; kBadData naming the node if it is outside.
[[nodiscard]] std::size_t axis_of(const Node& node, std::int64_t axis, std::size_t rank);

// The dims that a Reshape leads to: 0 keeps a dimension, -1 is what remains.
[[nodiscard]] std::vector<std::int64_t> reshaped(const Node& node,
                                                 const std::vector<std::int64_t>& dims,
                                                 const std::vector<std::int64_t>& wish);

}  // namespace moil::onnx
