// Functions that were found in several nodes (patterns.h). The nodes are right; if their dims are
// is seen here.
#include <algorithm>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr char kNotRestored[] = "what it takes over an axis is not given back to that axis";

// What an Expand gives; Unsupported if its shape does not meet the dims.
Ints expanded(const Ints& dims, const Ints& wish) {
  Ints result(std::max(dims.size(), wish.size()), 1);
  for (const Ints* each : {&dims, &wish}) {
    for (std::size_t k = 1; k <= each->size(); ++k) {
      const std::int64_t d = (*each)[each->size() - k];
      std::int64_t& to = result[result.size() - k];
      if (d != to && d != 1 && to != 1) throw Unsupported("its shape does not fit its input");
      if (d != 1) to = d;
    }
  }
  return result;
}

Ints shaped(const ImportState& state, const Node& shape, Ints dims) {
  if (shape.op == "Identity") return dims;
  if (shape.op == "Reshape") return reshaped(shape, dims, state.constant(shape, 1).ints);
  if (shape.op == "Expand") return expanded(dims, state.constant(shape, 1).ints);
  const Tensor* given = state.optional_constant(shape, 1);
  const std::size_t more = given == nullptr ? shape.integers("axes").size() : given->ints.size();
  if (more > ::moil::Dims::kMaxRank) throw Unsupported("a tensor of too many dimensions");
  const Ints axes = axes_of(state, shape, dims.size() + more);
  if (axes.size() != more) throw Unsupported("it names an axis twice");
  for (const std::int64_t axis : axes) dims.insert(dims.begin() + axis, 1);
  return dims;
}

// Every row must meet its own number again.
void check_restored(const ImportState& state, const Value& x, std::size_t axis,
                    const Restored& restored) {
  const Ints all = file_dims(x);
  Ints wanted = all, dims = all;
  wanted[axis] = 1;
  if (restored.keeps_axis)
    dims = wanted;
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  for (auto shape = restored.shapes.rbegin(); shape != restored.shapes.rend(); ++shape) {
    const Ints before = dims;
    dims = shaped(state, **shape, dims);
    const bool grows = (*shape)->op == "Expand" && dims != before;
    if (grows && (before != wanted || dims != all)) throw Unsupported(kNotRestored);
  }
  if (dims != wanted && dims != all) throw Unsupported(kNotRestored);
}

void check_numbers(std::size_t rank, std::size_t of_numbers, const Restored& restored) {
  if (of_numbers + (restored.keeps_axis ? 0 : 1) > rank)
    throw Unsupported("a number of more dimensions than what it meets");
}

}  // namespace

void import_norm(ImportState& state, const Node& node, const NormPattern& norm) {
  Node reader = node;
  reader.inputs = {norm.x, norm.gamma};
  const Value x = state.rows(reader, 0);
  const std::size_t rank = file_dims(x).size(), file_axis = axis_of(node, norm.axis, rank);
  const std::size_t axis = engine_axis(x, file_axis);
  check_restored(state, x, file_axis, norm.mean);
  check_restored(state, x, file_axis, norm.variance);
  check_numbers(rank, norm.number_rank, norm.mean);
  if (!near(norm.share * static_cast<double>(x.info.dims[axis]), 1) || !(norm.epsilon > 0))
    throw Unsupported("its factor is not that of a mean");
  const Value v =
      add_along(state, node, x, axis, "layer_norm",
                {{"affine", false}, {"epsilon", shortest(static_cast<float>(norm.epsilon))}});
  Node product = node;
  product.inputs = {node.outputs[0], norm.gamma};
  state.alias(node, v);
  multiply_constant(state, product, 0, constant_of(state, product, 1, v));
}

void import_softmax(ImportState& state, const Node& node, const SoftmaxPattern& softmax) {
  Node reader = node;
  reader.inputs = {softmax.x};
  const Value x = state.rows(reader, 0);
  const std::size_t rank = file_dims(x).size(), file_axis = axis_of(node, softmax.axis, rank);
  const std::size_t axis = engine_axis(x, file_axis);
  check_restored(state, x, file_axis, softmax.most);
  check_restored(state, x, file_axis, softmax.sum);
  check_numbers(rank, softmax.number_rank, softmax.most);
  (void)add_along(state, node, x, axis, "softmax");
}

void import_lookup(ImportState& state, const Node& node, const LookupPattern& lookup) {
  Node reader = node;
  reader.inputs = {lookup.table, lookup.ids};
  const Value ids = state.data(reader, 1);
  const Tensor& table = state.constant(reader, 0);
  Ints wish = file_dims(ids);
  wish.push_back(1);
  if (ids.info.type != moil::ElementType::kInt32) throw Unsupported("its indices are computed");
  if (table.dims.size() != 2 || table.dims[0] != lookup.rows || !table.is_float ||
      reshaped(node, file_dims(ids), lookup.shape) != wish)
    throw Unsupported("only the rows of a matrix of floats can be chosen by comparing");
  if (lookup.row_rank > wish.size() ||
      (lookup.expanded != nullptr && shaped(state, *lookup.expanded, wish) != wish))
    throw Unsupported("its indices and their rows do not fit together");
  state.add_layer(node, "embedding", {&ids}, {{"rows", table.dims[0]}, {"width", table.dims[1]}},
                  {{"weight", NamedTensor{table.dims, table.floats}}},
                  owner_of(state.find(lookup.table)->source));
}

}  // namespace moil::onnx
