#include "engine/io/onnx/patterns.h"

#include <algorithm>

#include "engine/io/onnx/element_type.h"

namespace moil::onnx {

Patterns::Patterns(const Graph& graph, const GraphIndex& index) : graph_(graph), index_(index) {
  for (const Node& node : graph.nodes) {
    if (!node.domain.empty() || node.inputs.size() != 2 || node.outputs.size() != 1) continue;
    if (node.op == "Mul") try_end(node, norms_);
    if (node.op == "Div") try_end(node, softmaxes_);
    if (node.op == "MatMul") try_end(node, lookups_);
  }
}

template <class P>
void Patterns::try_end(const Node& node, std::map<const Node*, P>& found) {
  seen_.clear();
  P pattern;
  if (!match(node, pattern) || is_read_elsewhere(node)) return;
  found[&node] = std::move(pattern);
  parts_.insert(seen_.begin(), seen_.end());
}

// Whether somebody else needs what the parts compute.
bool Patterns::is_read_elsewhere(const Node& end) const {
  for (const Node* part : seen_)
    for (const std::string& output : part->outputs)
      if (const auto readers = index_.readers.find(output); readers != index_.readers.end())
        for (const Node* reader : readers->second)
          if (reader != &end && !seen_.contains(reader)) return true;
  return false;
}

const Node* Patterns::producer(const std::string& name, const std::string& op) {
  const auto it = index_.producers.find(name);
  if (it == index_.producers.end() || it->second->op != op || !it->second->domain.empty() ||
      it->second->inputs.empty())
    return nullptr;
  seen_.insert(it->second);
  return it->second;
}

const Node* Patterns::pair(const std::string& name, const std::string& op) {
  const Node* node = producer(name, op);
  return node != nullptr && node->inputs.size() == 2 ? node : nullptr;
}

const Tensor* Patterns::constant(const std::string& name) const {
  const auto it = graph_.constants.find(name);
  if (it != graph_.constants.end()) return &it->second;
  const auto node = index_.producers.find(name);
  return node == index_.producers.end() || node->second->op != "Constant"
             ? nullptr
             : node->second->tensor("value");
}

const Tensor* Patterns::number(const std::string& name) const {
  const Tensor* tensor = constant(name);
  return tensor != nullptr && tensor->is_float && tensor->elements() == 1 ? tensor : nullptr;
}

bool Patterns::split(const Node& node, std::string& known, std::string& other) const {
  if (node.inputs.size() != 2) return false;
  const std::size_t c = constant(node.inputs[0]) != nullptr ? 0 : 1;
  known = node.inputs[c];
  other = node.inputs[1 - c];
  return constant(known) != nullptr && constant(other) == nullptr;
}

// Means and the like that get the axis back which they were taken over.
std::string Patterns::behind_shapes(std::string name, Restored& restored) {
  constexpr int kMost = 8;
  for (int steps = 0; steps < kMost; ++steps) {
    const Node* before = nullptr;
    for (const char* op : {"Reshape", "Expand", "Unsqueeze", "Identity"})
      if (before == nullptr) before = producer(name, op);
    if (before == nullptr) break;
    restored.shapes.push_back(before);
    name = before->inputs[0];
  }
  return name;
}

const Node* Patterns::reduction(const std::string& name, const std::string& op, std::int64_t& axis,
                                Restored& restored) {
  const Node* node = producer(name, op);
  if (node == nullptr) return nullptr;
  std::vector<std::int64_t> axes = node->integers("axes");
  if (node->inputs.size() > 1) {
    const Tensor* given = constant(node->inputs[1]);
    if (given == nullptr) return nullptr;
    axes = given->ints;
  }
  if (axes.size() != 1) return nullptr;
  axis = axes[0];
  restored.keeps_axis = node->integer("keepdims", 1) != 0;
  return node;
}

// The sum of x, or of its squares, times a number.
bool Patterns::mean_of(const std::string& name, NormPattern& norm, bool squares) {
  const Node* product = pair(name, "Mul");
  std::string share, sum;
  if (product == nullptr || !split(*product, share, sum) || number(share) == nullptr) return false;
  norm.share = static_cast<double>(number(share)->floats[0]);
  norm.number_rank = number(share)->dims.size();
  const Node* reduced = reduction(sum, "ReduceSum", norm.axis, norm.mean);
  if (reduced == nullptr) return false;
  norm.x = reduced->inputs[0];
  if (!squares) return true;
  const Node* square = pair(norm.x, "Mul");
  if (square == nullptr || square->inputs.size() != 2 || square->inputs[0] != square->inputs[1])
    return false;
  norm.x = square->inputs[0];
  return true;
}

// max(mean of squares - mean^2, 0) + epsilon, of which `root` is the root; the mean's name, too.
bool Patterns::variance_of(const Node& root, NormPattern& norm, std::string& mean,
                           NormPattern& squares) {
  std::string zero, variance, epsilon, sum;
  const Node* raised = pair(root.inputs[0], "Add");
  if (raised == nullptr || !split(*raised, epsilon, sum) || number(epsilon) == nullptr)
    return false;
  const Node* limit = pair(behind_shapes(sum, norm.variance), "Max");
  if (limit == nullptr || !split(*limit, zero, variance) || number(zero) == nullptr ||
      number(zero)->floats[0] != 0)
    return false;
  norm.epsilon = static_cast<double>(number(epsilon)->floats[0]);
  norm.number_rank = std::max(number(epsilon)->dims.size(), number(zero)->dims.size());
  const Node* difference = pair(variance, "Sub");
  const Node* square = difference == nullptr ? nullptr : pair(difference->inputs[1], "Mul");
  if (square == nullptr || square->inputs[0] != square->inputs[1]) return false;
  mean = square->inputs[0];
  return mean_of(difference->inputs[0], squares, true);
}

bool Patterns::match(const Node& end, NormPattern& norm) {
  for (const std::size_t i : {0U, 1U}) {
    seen_.clear();
    norm = {};
    const Node* centred = pair(end.inputs[i], "Sub");
    const Node* scale = pair(end.inputs[1 - i], "Mul");
    std::string inverse, squared;
    if (centred == nullptr || scale == nullptr || !split(*scale, norm.gamma, inverse)) continue;
    const Node* reciprocal = producer(inverse, "Reciprocal");
    const Node* root = reciprocal == nullptr ? nullptr : producer(reciprocal->inputs[0], "Sqrt");
    NormPattern mean, squares;
    if (root == nullptr || !variance_of(*root, norm, squared, squares)) continue;
    const std::string middle = behind_shapes(centred->inputs[1], norm.mean);
    if (middle != squared || !mean_of(middle, mean, false) || mean.x != centred->inputs[0] ||
        squares.x != mean.x || mean.axis != squares.axis || mean.share != squares.share ||
        mean.mean.keeps_axis != squares.mean.keeps_axis)
      continue;
    norm.x = mean.x;
    norm.axis = mean.axis;
    norm.share = mean.share;
    norm.mean.keeps_axis = norm.variance.keeps_axis = mean.mean.keeps_axis;
    norm.number_rank = std::max({norm.number_rank, mean.number_rank, squares.number_rank});
    return true;
  }
  return false;
}

bool Patterns::match(const Node& end, SoftmaxPattern& softmax) {
  const Node* power = producer(end.inputs[0], "Exp");
  const Node* lowered = power == nullptr ? nullptr : pair(power->inputs[0], "Sub");
  if (lowered == nullptr || lowered->inputs.size() != 2) return false;
  softmax.x = lowered->inputs[0];
  std::string largest = behind_shapes(lowered->inputs[1], softmax.most), limit, other;
  if (const Node* bounded = pair(largest, "Max")) {  // by minus infinity
    if (!split(*bounded, limit, other) || number(limit) == nullptr ||
        !(number(limit)->floats[0] < -1e30F))
      return false;
    softmax.number_rank = number(limit)->dims.size();
    largest = behind_shapes(other, softmax.most);
  }
  std::int64_t axis = 0;
  const Node* most = reduction(largest, "ReduceMax", softmax.axis, softmax.most);
  const Node* sum =
      reduction(behind_shapes(end.inputs[1], softmax.sum), "ReduceSum", axis, softmax.sum);
  return most != nullptr && sum != nullptr && most->inputs[0] == softmax.x &&
         sum->inputs[0] == end.inputs[0] && axis == softmax.axis;
}

bool Patterns::match(const Node& end, LookupPattern& lookup) {
  const Node* cast = producer(end.inputs[0], "Cast");
  const Node* equal = cast == nullptr ? nullptr : pair(cast->inputs[0], "Equal");
  std::string numbers, compared;
  if (equal == nullptr || !split(*equal, numbers, compared)) return false;
  const Tensor* row = constant(numbers);
  if (row->is_float || row->dims.empty() || row->dims.back() != row->elements()) return false;
  for (std::size_t i = 0; i < row->ints.size(); ++i)
    if (row->ints[i] != static_cast<std::int64_t>(i)) return false;
  if (!is_float(cast_type(*cast))) return false;
  const Node* expanded = producer(compared, "Expand");
  if (expanded != nullptr) compared = expanded->inputs[0];
  const Node* shaped = producer(compared, "Reshape");
  if (shaped == nullptr || shaped->inputs.size() != 2 || constant(shaped->inputs[1]) == nullptr)
    return false;
  lookup = {shaped->inputs[0], end.inputs[1],   row->elements(), constant(shaped->inputs[1])->ints,
            expanded,          row->dims.size()};
  return true;
}

}  // namespace moil::onnx
