// Einsum of two tensors as a product of matrices: the axes of each are brought into the order
// [what both and the result have, its own, what is summed], and the result's into the order asked
// for.
#include <algorithm>

#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

bool contains(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Equation equation_of(const Node& node) {
  std::string text = node.word("equation", "");
  std::erase(text, ' ');
  Equation equation;
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos || contains(text, '.'))
    throw Unsupported("only equations that name every axis and the result's are supported");
  equation.output = text.substr(arrow + 2);
  for (std::size_t begin = 0; begin <= arrow;) {
    const std::size_t end = std::min(arrow, text.find(',', begin));
    equation.inputs.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  for (std::string labels : equation.inputs) {
    if (!std::all_of(labels.begin(), labels.end(), is_letter))
      throw Unsupported("its equation names axes by other signs than letters");
    std::sort(labels.begin(), labels.end());
    if (std::adjacent_find(labels.begin(), labels.end()) != labels.end())
      throw Unsupported("its equation names an axis of one input twice");
  }
  if (equation.inputs.size() != node.inputs.size())
    throw Unsupported("its equation does not fit its inputs");
  return equation;
}

// One factor: a value and the labels of its axes in the engine's order, without the samples'.
struct Factor {
  Value value;
  std::string labels;
  std::int64_t size(char label) const { return value.info.dims[labels.find(label) + 1]; }
  std::int64_t size(const std::string& some) const {
    std::int64_t count = 1;
    for (const char label : some) count *= size(label);
    return count;
  }
};

// Takes the samples' label, if there is one, out of the others.
Factor factor_of(ImportState& state, const Node& node, std::size_t input, std::string labels,
                 char& batch) {
  Factor factor{state.data(node, input), std::move(labels)};
  if (factor.labels.size() != file_dims(factor.value).size())
    throw Unsupported("its equation does not fit its inputs");
  batch = 0;
  if (factor.value.batch_axis >= 0) {
    const auto axis = static_cast<std::size_t>(factor.value.batch_axis);
    batch = factor.labels[axis];
    factor.labels.erase(axis, 1);
  }
  return factor;
}

// What rearranges a factor is called after the node, and not after the weight that the node reads.
const std::string& name_of(const Node& node) {
  return node.name.empty() ? node.outputs[0] : node.name;
}

// With its axes in this order.
void arrange(ImportState& state, const Node& node, Factor& factor, const std::string& wish) {
  if (factor.labels == wish) return;
  Ints order = {0};
  for (const char label : wish)
    order.push_back(static_cast<std::int64_t>(factor.labels.find(label)) + 1);
  const int batch_axis = factor.value.batch_axis;
  factor.value = state.add_layer(node, "permute", {&factor.value},
                                 permute_properties(factor.value, order), {}, name_of(node));
  factor.value.batch_axis = batch_axis;
  factor.labels = wish;
}

void reshape(ImportState& state, const Node& node, Value& value, const Ints& dims) {
  const auto now = value.info.dims.values();
  if (std::equal(dims.begin(), dims.end(), now.begin() + 1, now.end())) return;
  Properties properties = {{"dims", dims}};
  if (dims.size() == 3) properties["layout"] = std::string("plain");
  value = state.add_layer(node, "reshape", {&value}, std::move(properties), {}, name_of(node));
}

// The result under the labels that it has, as the equation wants it.
void finish(ImportState& state, const Node& node, Factor result, const std::string& output,
            char batch) {
  std::string wish = output;
  std::erase(wish, batch);
  if (wish.size() != result.labels.size() ||
      !std::is_permutation(wish.begin(), wish.end(), result.labels.begin()))
    throw Unsupported("its equation is neither a product of matrices nor a transposition");
  arrange(state, node, result, wish);
  result.value.batch_axis = batch == 0 ? -1 : static_cast<int>(output.find(batch));
  state.alias(node, result.value);
}

// What each label of two factors is for.
struct Roles {
  std::string shared, left, right, summed;
};

Roles roles_of(const std::string& a, const std::string& b, const std::string& output) {
  Roles roles;
  for (const char label : a) {
    const bool in_b = contains(b, label), stays = contains(output, label);
    if (!in_b && !stays) throw Unsupported("its equation sums over an axis of one input");
    (in_b ? stays ? roles.shared : roles.summed : roles.left) += label;
  }
  for (const char label : b) {
    if (contains(a, label)) continue;
    if (!contains(output, label)) throw Unsupported("its equation sums over an axis of one input");
    roles.right += label;
  }
  if (roles.summed.empty()) throw Unsupported("its equation sums over nothing");
  return roles;
}

void multiply(ImportState& state, const Node& node, Factor a, Factor b, const std::string& output,
              char batch) {
  const Roles roles = roles_of(a.labels, b.labels, output);
  for (const char label : roles.shared + roles.summed)
    if (a.size(label) != b.size(label)) throw Unsupported("its inputs do not fit together");
  arrange(state, node, a, roles.shared + roles.left + roles.summed);
  // As it lies if it can be read so; else turned, as attention's keys are.
  const bool straight = b.labels == roles.shared + roles.summed + roles.right;
  if (!straight) arrange(state, node, b, roles.shared + roles.right + roles.summed);
  Ints all, left, right;
  for (const char label : roles.shared) left.push_back(a.size(label));
  all = right = left;
  for (const char label : roles.left) all.push_back(a.size(label));
  for (const char label : roles.right) all.push_back(b.size(label));
  const std::int64_t summed = a.size(roles.summed), columns = b.size(roles.right);
  left.insert(left.end(), {a.size(roles.left), summed});
  right.insert(right.end(), {straight ? summed : columns, straight ? columns : summed});
  reshape(state, node, a.value, left);
  reshape(state, node, b.value, right);
  Properties properties;
  if (!straight) properties["transpose_b"] = true;
  const Value left_rows = state.as_rows(a.value), right_rows = state.as_rows(b.value);
  Factor product{state.add_layer(node, "matmul", {&left_rows, &right_rows}, std::move(properties)),
                 roles.shared + roles.left + roles.right};
  reshape(state, node, product.value, all);
  finish(state, node, std::move(product), output, batch);
}

// By a matrix of the file: one axis is summed, one is new.
void multiply_matrix(ImportState& state, const Node& node, Factor a, std::size_t input,
                     const std::string& labels, const std::string& output, char batch) {
  const Tensor& matrix = state.constant(node, input);
  const Roles roles = roles_of(a.labels, labels, output);
  if (labels.size() != 2 || matrix.dims.size() != 2 || roles.summed.size() != 1 ||
      roles.right.size() != 1 || !matrix.is_float)
    throw Unsupported("only products with a constant that is a matrix are supported");
  arrange(state, node, a, roles.left + roles.summed);
  const Value left_rows = state.as_rows(a.value);
  const std::int64_t rows = matrix.dims[0], columns = matrix.dims[1];
  const bool turned = labels[0] == roles.summed[0];
  const std::int64_t units = turned ? columns : rows;
  NamedTensor weight{{units, turned ? rows : columns}, matrix.floats};
  for (std::int64_t r = 0; turned && r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      weight.data[static_cast<std::size_t>(c * rows + r)] =
          matrix.floats[static_cast<std::size_t>(r * columns + c)];
  const std::string name = parameter_of(state.find(node.inputs[input])->source);
  Factor product{
      state.add_layer(node, "fully_connected", {&left_rows}, {{"units", units}, {"bias", false}},
                      {{"weight", std::move(weight)}}, name),
      roles.left + roles.right};
  finish(state, node, std::move(product), output, batch);
}

}  // namespace

void import_einsum(ImportState& state, const Node& node) {
  const Equation equation = equation_of(node);
  char batch = 0, other = 0;
  if (equation.inputs.size() == 1) {
    Factor only = factor_of(state, node, 0, equation.inputs[0], batch);
    return finish(state, node, std::move(only), equation.output, batch);
  }
  if (equation.inputs.size() != 2) throw Unsupported("only one or two inputs are supported");
  const auto checked = [&](char label) {
    if (label != 0 && !contains(equation.output, label))
      throw Unsupported("it works along the batch; samples must not know each other");
  };
  for (const std::size_t constant : {0U, 1U}) {
    if (!state.is_constant(node, constant)) continue;
    Factor a = factor_of(state, node, 1 - constant, equation.inputs[1 - constant], batch);
    checked(batch);
    return multiply_matrix(state, node, std::move(a), constant, equation.inputs[constant],
                           equation.output, batch);
  }
  Factor a = factor_of(state, node, 0, equation.inputs[0], batch);
  Factor b = factor_of(state, node, 1, equation.inputs[1], other);
  checked(batch);
  if (batch != other) throw Unsupported("its inputs do not have the batch in one place");
  multiply(state, node, std::move(a), std::move(b), equation.output, batch);
}

}  // namespace moil::onnx
