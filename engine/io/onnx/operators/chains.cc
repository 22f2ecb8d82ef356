// GELU and layer normalisation as exporters write them in several nodes.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"

namespace moil::onnx {
namespace {

constexpr int kDeepestProduct = 4;

const Node* producer_of(const ImportState& state, const Node& node, std::size_t input,
                        const std::string& op) {
  if (!state.has(node, input)) return nullptr;
  const Node* before = state.producer(node.inputs[input]);
  return before != nullptr && before->domain.empty() && before->op == op ? before : nullptr;
}

// Null for one of more dimensions than what it meets, too: it would give them to that.
const Tensor* number_in(const ImportState& state, const Node& node, std::size_t input) {
  if (!state.is_constant(node, input)) return nullptr;
  const Tensor& tensor = state.constant(node, input);
  if (tensor.elements() != 1 || !tensor.is_float) return nullptr;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Value* other = state.has(node, i) ? state.find(node.inputs[i]) : nullptr;
    if (other != nullptr && !other->constant && file_dims(*other).size() < tensor.dims.size())
      return nullptr;
  }
  return &tensor;
}

// A product of copies of x and of numbers; false if there is something else in it.
struct Power {
  std::string x;
  int degree = 0;
  double factor = 1;
};

bool multiply_in(const ImportState& state, const Node& node, int depth, Power& power) {
  if (node.op == "Pow" && node.inputs.size() == 2 && node.inputs[0] == power.x &&
      is_number(state, node, 1, 3)) {
    power.degree += 3;
    return true;
  }
  if (node.op != "Mul" || node.inputs.size() != 2 || depth > kDeepestProduct) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Node* before = state.producer(node.inputs[i]);
    if (node.inputs[i] == power.x)
      ++power.degree;
    else if (const Tensor* number = number_in(state, node, i))
      power.factor *= static_cast<double>(number->floats[0]);
    else if (before == nullptr || !multiply_in(state, *before, depth + 1, power))
      return false;
  }
  return true;
}

// The name of x if `node` is 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)); empty otherwise.
std::string tanh_share_of(const ImportState& state, const Node& node) {
  const Node *tanh = nullptr, *line = nullptr, *sum = nullptr;
  for (const std::size_t one : {0U, 1U})
    if (is_number(state, node, one, 1)) tanh = producer_of(state, node, 1 - one, "Tanh");
  if (tanh != nullptr) line = producer_of(state, *tanh, 0, "Mul");
  for (const std::size_t c : {0U, 1U})
    if (line != nullptr && is_number(state, *line, c, std::sqrt(2 / std::acos(-1.0))))
      sum = producer_of(state, *line, 1 - c, "Add");
  for (const std::size_t i : {0U, 1U}) {
    if (sum == nullptr || sum->inputs.size() != 2) break;
    const Node* cube = state.producer(sum->inputs[1 - i]);
    Power power{sum->inputs[i]};
    if (cube != nullptr && multiply_in(state, *cube, 0, power) && power.degree == 3 &&
        near(power.factor, 0.044715))
      return power.x;
  }
  return {};
}

// The name of x if `node` is 1 + erf(x / sqrt 2), or the like by tanh; empty otherwise.
std::string share_of(const ImportState& state, const Node& node) {
  if (node.op != "Add" || node.inputs.size() != 2) return {};
  if (std::string x = tanh_share_of(state, node); !x.empty()) return x;
  for (const std::size_t one : {0U, 1U}) {
    if (!is_number(state, node, one, 1)) continue;
    const Node* erf = producer_of(state, node, 1 - one, "Erf");
    if (erf == nullptr) return {};
    if (const Node* part = producer_of(state, *erf, 0, "Div"))
      return is_number(state, *part, 1, std::sqrt(2.0)) ? part->inputs[0] : std::string();
    const Node* part = producer_of(state, *erf, 0, "Mul");
    if (part != nullptr && part->inputs.size() != 2) return {};
    for (const std::size_t c : {0U, 1U})
      if (part != nullptr && is_number(state, *part, c, std::sqrt(0.5))) return part->inputs[1 - c];
  }
  return {};
}

const Node* product_behind(const ImportState& state, const Node& node, std::size_t input,
                           int depth) {
  const Node* before = depth < kDeepestProduct ? producer_of(state, node, input, "Mul") : nullptr;
  return before != nullptr && before->inputs.size() == 2 ? before : nullptr;
}

// Every x whose 1 + erf(x / sqrt 2) is a factor.
void find_shares(const ImportState& state, const Node& node, int depth,
                 std::vector<std::string>& found) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Node* before = state.producer(node.inputs[i]);
    if (std::string x = before == nullptr ? "" : share_of(state, *before); !x.empty())
      found.push_back(std::move(x));
    else if (const Node* product = product_behind(state, node, i, depth))
      find_shares(state, *product, depth + 1, found);
  }
}

// What a product of GELU's parts is made of, as that of x.
struct Factors {
  std::string x;
  int halves = 0, shares = 0, values = 0, others = 0;
  bool by_tanh = false;
  std::string value = {};
};

// Whether a factor of the product is x's share.
bool has_share(const ImportState& state, const Node& product, const std::string& x) {
  return std::any_of(product.inputs.begin(), product.inputs.end(), [&](const std::string& name) {
    const Node* before = state.producer(name);
    return before != nullptr && share_of(state, *before) == x;
  });
}

void gather(const ImportState& state, const Node& node, int depth, Factors& found) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string& name = node.inputs[i];
    const Node* before = state.producer(name);
    const Node* product = name == found.x ? nullptr : product_behind(state, node, i, depth);
    if (is_number(state, node, i, 0.5)) {
      ++found.halves;
    } else if (state.is_constant(node, i)) {
      ++found.others;
    } else if (before != nullptr && share_of(state, *before) == found.x) {
      ++found.shares;
      found.by_tanh = !tanh_share_of(state, *before).empty();
    } else if (product != nullptr &&
               (has_share(state, *product, found.x) || is_pending(state, node, i) ||
                is_number(state, *product, 0, 0.5) || is_number(state, *product, 1, 0.5))) {
      gather(state, *product, depth + 1, found);
    } else {
      ++found.values;
      found.value = name;
    }
  }
}

// Whether `node` is the mean over the last axis, which it keeps, of a value like x.
bool is_row_mean(const ImportState& state, const Node& node, const std::string& x) {
  if (node.op != "ReduceMean" || node.integer("keepdims", 1) == 0) return false;
  const Value* value = state.find(x);
  if (value == nullptr || value->constant) return false;
  const auto rank = static_cast<std::int64_t>(file_dims(*value).size());
  const bool given = state.is_constant(node, 1);
  const std::vector<std::int64_t> axes =
      given ? state.constant(node, 1).ints : node.integers("axes");
  return axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1);
}

// x - mean(x), and the name of x; null if `node` is something else.
const std::string* centred_of(const ImportState& state, const Node& node) {
  if (node.op != "Sub" || node.inputs.size() != 2) return nullptr;
  const Node* mean = producer_of(state, node, 1, "ReduceMean");
  const bool centred = mean != nullptr && mean->inputs[0] == node.inputs[0] &&
                       is_row_mean(state, *mean, node.inputs[0]);
  return centred ? &node.inputs[0] : nullptr;
}

// Whether `square` is the square of what `centred` computes of x.
bool is_square(const ImportState& state, const Node& square, const std::string& x) {
  const auto is_centred = [&](std::size_t i) {
    const Node* before = producer_of(state, square, i, "Sub");
    const std::string* of = before == nullptr ? nullptr : centred_of(state, *before);
    return of != nullptr && *of == x;
  };
  if (square.op == "Pow") return is_centred(0) && is_number(state, square, 1, 2);
  return square.op == "Mul" && is_centred(0) && is_centred(1);
}

// The epsilon of sqrt(mean((x - mean)^2) + epsilon); null if `root` is something else.
const Tensor* epsilon_of(const ImportState& state, const Node& root, const std::string& x) {
  const Node* sum = producer_of(state, root, 0, "Add");
  for (const std::size_t c : {0U, 1U}) {
    const Tensor* epsilon = sum == nullptr ? nullptr : number_in(state, *sum, c);
    const Node* mean = epsilon == nullptr ? nullptr : producer_of(state, *sum, 1 - c, "ReduceMean");
    const Node* square = mean == nullptr ? nullptr : state.producer(mean->inputs[0]);
    if (square != nullptr && is_square(state, *square, x) && is_row_mean(state, *mean, x))
      return epsilon;
  }
  return nullptr;
}

}  // namespace

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b)); }

double shortest(float value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text - 1, value).ptr;
  *end = '\0';
  return std::strtod(text, nullptr);
}

bool is_number(const ImportState& state, const Node& node, std::size_t input, double number) {
  const Tensor* tensor = number_in(state, node, input);
  return tensor != nullptr && near(static_cast<double>(tensor->floats[0]), number);
}

void mark(ImportState& state, const Node& node, Form form, const std::string& of) {
  Value value = *state.find(node.outputs[0]);
  value.form = form;
  value.of = of;
  state.set(node.outputs[0], std::move(value));
}

void mark_pending(ImportState& state, const Node& node, const Value& x) {
  Value value;
  value.info = x.info;
  value.batch_axis = x.batch_axis;
  value.view = x.view;
  value.form = Form::kPending;
  value.node = &node;
  state.set(node.outputs[0], std::move(value));
}

bool is_pending(const ImportState& state, const Node& node, std::size_t input) {
  const Value* value = state.has(node, input) ? state.find(node.inputs[input]) : nullptr;
  return value != nullptr && value->form == Form::kPending;
}

bool is_centred(const ImportState& state, const Node& node) {
  return centred_of(state, node) != nullptr;
}

bool import_gelu_chain(ImportState& state, const Node& node) {
  std::vector<std::string> shares;
  find_shares(state, node, 0, shares);
  for (const std::string& x : shares) {
    Factors found{x};
    gather(state, node, 0, found);
    if (found.halves != 1 || found.shares != 1 || found.values != 1 || found.others != 0) continue;
    Node reader = node;
    reader.inputs = {found.value, x};
    const Value source = state.pixels(reader, 0);
    const Value& other = state.pixels(reader, 1);
    if (source.layer != other.layer || source.batch_axis != other.batch_axis) continue;
    state.add_layer(node, found.by_tanh ? "gelu_tanh" : "gelu", {&source});
    return true;
  }
  return false;
}

bool import_norm_chain(ImportState& state, const Node& node) {
  const Node* centred = producer_of(state, node, 0, "Sub");
  const std::string* name = centred == nullptr ? nullptr : centred_of(state, *centred);
  const Node* root = name == nullptr ? nullptr : producer_of(state, node, 1, "Sqrt");
  const Tensor* epsilon = root == nullptr ? nullptr : epsilon_of(state, *root, *name);
  if (epsilon == nullptr) return false;
  Node reader = node;
  reader.inputs = {*name};
  Value x = state.rows(reader, 0);
  if (engine_axis(x, file_dims(x).size() - 1) + 1 != x.info.dims.rank()) return false;
  x.form = Form::kNormalised;
  x.node = &node;
  x.epsilon = shortest(epsilon->floats[0]);
  state.set(node.outputs[0], std::move(x));
  return true;
}

}  // namespace moil::onnx
