// What the evaluation of constant nodes is written with: inputs that may be missing, sizes that are
// checked before memory is taken, and elements picked from other places of a tensor.
//
// Pure functions; thread-safe. All throw kBadData naming the node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/onnx/onnx_graph.h"

namespace moil::onnx {

using TensorDims = std::vector<std::int64_t>;
using FoldInputs = std::span<const Tensor* const>;  // null: left out

[[noreturn]] void bad_fold(const Node& node, const std::string& what);

// The elements of a tensor of these dims; more than its inputs have up to kMaxGrownElements alone.
// Zeros count last, so that no order of dims hides a large one.
[[nodiscard]] std::int64_t count_of(const Node& node, const std::vector<std::int64_t>& dims,
                                    std::int64_t of_inputs);

[[nodiscard]] bool has(FoldInputs inputs, std::size_t i);
[[nodiscard]] const Tensor& required(const Node& node, FoldInputs inputs, std::size_t i);
// The same, of whole numbers.
[[nodiscard]] const std::vector<std::int64_t>& ints(const Node& node, FoldInputs inputs,
                                                    std::size_t i);

[[nodiscard]] std::vector<std::int64_t> strides_of(const std::vector<std::int64_t>& dims);

// The index into a tensor of `strides`, of element i of a tensor of `dims`: axis k advances by
// strides[k].
[[nodiscard]] std::int64_t walk(std::int64_t i, const std::vector<std::int64_t>& dims,
                                const std::vector<std::int64_t>& strides);

// A tensor of these dims whose element i is element source(i) of `from`. others: the most elements
// that another input has.
template <typename Source>
Tensor picked(const Node& node, const Tensor& from, std::vector<std::int64_t> dims,
              const Source& source, std::int64_t others = 0) {
  Tensor to;
  const std::int64_t count = count_of(node, dims, std::max(from.elements(), others));
  to.dims = std::move(dims);
  to.is_float = from.is_float;
  const auto pick = [&](const auto& in, auto& out) {
    out.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      out[static_cast<std::size_t>(i)] = in[static_cast<std::size_t>(source(i))];
  };
  if (from.is_float)
    pick(from.floats, to.floats);
  else
    pick(from.ints, to.ints);
  return to;
}

}  // namespace moil::onnx
