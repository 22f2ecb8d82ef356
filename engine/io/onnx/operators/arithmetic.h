// What the operators share: numbers as they were meant, marks of chains, and the chains that mean
// one layer.
#pragma once

#include <string>
#include <vector>

#include "engine/io/onnx/operators/import_state.h"

namespace moil::onnx {

// Whether both have about the same value: exporters round their constants to fp32.
[[nodiscard]] bool near(double a, double b);

// The shortest decimal number that is this float.
[[nodiscard]] double shortest(float value);

// Whether an input is one constant number, and that.
[[nodiscard]] bool is_number(const ImportState& state, const Node& node, std::size_t input,
                             double number);

// A constant as it meets a value: one number, one a channel of an image, or one row that every
// row of the value meets, in which an axis of 1 meets all along the value's.
struct Constant {
  enum class Kind { kNumber, kChannels, kRow } kind = Kind::kNumber;
  std::vector<float> values;
  std::vector<std::int64_t> dims;  // of a row: the last of a sample's
  std::string name;
  bool trained = true;  // made of the file's weights, and no mask

  bool is(double number) const {
    return kind == Kind::kNumber && near(static_cast<double>(values[0]), number);
  }
  NamedTensor weight() const { return {dims, values}; }
};

// How `input`, a constant, meets x. Throws Unsupported for other broadcasts.
[[nodiscard]] Constant constant_of(ImportState& state, const Node& node, std::size_t input,
                                   const Value& x);

// The node's output is its input plus, or times, the constant.
void add_constant(ImportState& state, const Node& node, std::size_t input, const Constant& c);
void multiply_constant(ImportState& state, const Node& node, std::size_t input, const Constant& c);

// The same of frames that have no layer yet; false if the constant does not meet them so.
[[nodiscard]] bool scale_frames(ImportState& state, const Node& node, std::size_t input,
                                const Constant& c);

// A layer of two inputs of the same dims makes the node's output; one number a sample is repeated.
Value join(ImportState& state, const Node& node, const std::string& type, Value a, Value b);

// Marks the node's output as `form` of x, for the nodes behind it.
void mark(ImportState& state, const Node& node, Form form, const std::string& of);

// The node's output is part of a chain, which the node that ends it makes a layer of.
void mark_pending(ImportState& state, const Node& node, const Value& x);
[[nodiscard]] bool is_pending(const ImportState& state, const Node& node, std::size_t input);

// Whether `node` is x less its mean, with which a normalisation begins.
[[nodiscard]] bool is_centred(const ImportState& state, const Node& node);

// x (1 + erf(x / sqrt 2)) / 2 with `node` as its last product, in any order; makes it a gelu.
[[nodiscard]] bool import_gelu_chain(ImportState& state, const Node& node);

// (x - mean) / sqrt(variance + epsilon) over the last axis with `node` as its division; makes its
// output normalised rows, which a product and a sum behind may yet scale and shift.
[[nodiscard]] bool import_norm_chain(ImportState& state, const Node& node);

// A permute layer makes an image if that moves nothing in memory, else rows.
[[nodiscard]] Properties permute_properties(const Value& x, const std::vector<std::int64_t>& order);

}  // namespace moil::onnx
