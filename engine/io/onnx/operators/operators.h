// The ONNX operators that become layers.
#pragma once

#include <map>
#include <string>

#include "engine/io/onnx/operators/import_state.h"
#include "engine/io/onnx/patterns.h"

namespace moil::onnx {

// Adds to the state what the node computes. Throws Unsupported.
using Operator = void (*)(ImportState& state, const Node& node);
using Operators = std::map<std::string, Operator>;

void add_window_operators(Operators& operators);       // convolutions, pools, padding
void add_weighted_operators(Operators& operators);     // products of matrices, norms
void add_elementwise_operators(Operators& operators);  // activations
void add_arithmetic_operators(Operators& operators);   // sums, products, with constants, too
void add_norm_operators(Operators& operators);         // norms of groups, of neighbours
void add_shape_operators(Operators& operators);        // reshapes
void add_reduction_operators(Operators& operators);    // means, sums and extremes over axes
void add_resize_operators(Operators& operators);       // images of another size
void add_quantization_operators(Operators& operators);
void add_recurrent_operators(Operators& operators);  // LSTM, GRU, RNN
void add_attention_operators(Operators& operators);
void add_axis_operators(Operators& operators);  // transposition, slices, concatenation

// By ONNX name; of the default domain.
[[nodiscard]] const Operators& operators();

// Makes the node's output by a layer that works along the last axis of rows, for another of the
// engine's axes: turned to the end before it, and back behind it.
Value add_along(ImportState& state, const Node& node, const Value& rows, std::size_t axis,
                const std::string& type, const Properties& properties = {});

// The largest pixel of each channel of an image, as the node's output; of one pixel.
Value largest_pixels(ImportState& state, const Node& node, Value x);

// Frames of a signal, which a node cuts out, whose numbers the next ones multiply, and which get
// their layer at last; false if the node is none of these. turned: the matrix is [results, of a
// frame's]. frames.cc.
bool import_frames(ImportState& state, const Node& node);
bool multiply_frames(ImportState& state, const Node& node, bool turned);
void finish_frames(ImportState& state, const Node& node, const Value& x);

// Functions of several nodes, at their ends; pattern_operators.cc.
void import_norm(ImportState& state, const Node& node, const NormPattern& norm);
void import_softmax(ImportState& state, const Node& node, const SoftmaxPattern& softmax);
void import_lookup(ImportState& state, const Node& node, const LookupPattern& lookup);

void import_einsum(ImportState& state, const Node& node);  // of the weighted ones; einsum.cc

// A node's axes, an attribute or its second input, each once and in order.
[[nodiscard]] std::vector<std::int64_t> axes_of(const ImportState& state, const Node& node,
                                                std::size_t rank);

// A number that was a float in the file, as short as it was meant: 0.1 and not 0.10000000149.
// Throws Unsupported if it is not finite.
[[nodiscard]] double tidy(double value);

// A weight as files have it; dims if they differ from the tensor's.
[[nodiscard]] NamedTensor weight_of(const Tensor& tensor);
[[nodiscard]] NamedTensor weight_of(const Tensor& tensor, std::vector<std::int64_t> dims);

}  // namespace moil::onnx
