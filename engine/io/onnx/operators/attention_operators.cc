// Attention (opset 23): the products and the softmax that it stands for.
#include <cmath>

#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using Attributes = std::map<std::string, Attribute>;

enum AttentionInput : std::size_t { kQueries, kKeys, kValues, kMask, kPastKeys };

constexpr float kHidden = -1e30F;

class AttentionImport {
 public:
  AttentionImport(ImportState& state, const Node& node) : state_(state), node_(node) {}

  void run() {
    check();
    const std::string queries = heads_of(kQueries, {0, 2, 1, 3}, {0, 1, 2, 3}),
                      keys = heads_of(kKeys, {0, 2, 3, 1}, {0, 1, 3, 2}),
                      values = heads_of(kValues, {0, 2, 1, 3}, {0, 1, 2, 3});
    const Ints q = dims_of(queries), k = dims_of(keys);
    if (q.size() != 4 || k.size() != 4) throw Unsupported("its inputs do not fit together");
    const double usual = 1 / std::sqrt(static_cast<double>(q[3]));
    std::string scores = add("MatMul", {queries, keys});
    const auto scale = static_cast<float>(node_.number("scale", usual));
    scores = add("Mul", {scores, constant(Tensor::of({}, {scale}))});
    if (state_.has(node_, kMask)) scores = add("Add", {scores, mask()});
    if (node_.integer("is_causal", 0) != 0) scores = add("Add", {scores, causal(q[2], k[3])});
    const std::string shares = add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const std::string heads = add("MatMul", {shares, values});
    if (!is_in_rows_) return finish("Identity", {heads});
    const std::string rows = add("Transpose", {heads}, {{"perm", Ints{0, 2, 1, 3}}});
    const std::string wish = constant(Tensor::of_ints({3}, {0, 0, -1}));
    finish("Reshape", {rows, wish});
  }

 private:
  void check() {
    for (std::size_t input = kPastKeys; input < node_.inputs.size(); ++input)
      if (state_.has(node_, input)) throw Unsupported("keys of the past are not supported");
    if (node_.number("softcap", 0) != 0) throw Unsupported("scores that are capped");
    is_in_rows_ = file_dims(state_.data(node_, kQueries)).size() == 3;
    heads_ = node_.integer("q_num_heads", 0);
    if (heads_ != node_.integer("kv_num_heads", heads_))
      throw Unsupported("heads that share keys are not supported");
    if (is_in_rows_ && heads_ < 1) throw Unsupported("it does not say how many heads it has");
  }

  Ints dims_of(const std::string& name) const { return file_dims(*state_.find(name)); }

  // [N, heads, L, F], or turned; of rows [N, L, heads * F], or as they are.
  std::string heads_of(std::size_t input, const Ints& of_rows, const Ints& of_heads) {
    const Ints dims = file_dims(state_.data(node_, input));
    if (dims.size() != (is_in_rows_ ? 3 : 4)) throw Unsupported("its inputs do not fit together");
    const std::string& name = node_.inputs[input];
    if (!is_in_rows_) return add("Transpose", {name}, {{"perm", of_heads}});
    if (dims[2] % heads_ != 0) throw Unsupported("its heads do not share its width");
    const std::string wish = constant(Tensor::of_ints({4}, {0, 0, heads_, dims[2] / heads_}));
    return add("Transpose", {add("Reshape", {name, wish})}, {{"perm", of_rows}});
  }

  // Truth values hide where they are false.
  std::string mask() {
    if (!state_.is_constant(node_, kMask)) return node_.inputs[kMask];
    const Tensor& given = state_.constant(node_, kMask);
    if (given.is_float) return node_.inputs[kMask];
    state_.spend(node_, given.elements());
    Tensor mask = Tensor::of(given.dims, {});
    for (const std::int64_t seen : given.ints) mask.floats.push_back(seen != 0 ? 0 : kHidden);
    return constant(std::move(mask));
  }

  std::string causal(std::int64_t queries, std::int64_t keys) {
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    if (queries > kMost / keys) throw Unsupported("a mask of too many positions");
    state_.spend(node_, queries * keys);
    Tensor mask = Tensor::of({queries, keys}, {});
    for (std::int64_t q = 0; q < queries; ++q)
      for (std::int64_t k = 0; k < keys; ++k) mask.floats.push_back(k > q ? kHidden : 0);
    return constant(std::move(mask));
  }

  std::string part() { return node_.label() + "/" + std::to_string(count_++); }
  std::string constant(Tensor tensor) {
    Value value;
    value.constant = std::make_shared<Tensor>(std::move(tensor));
    const std::string name = part();
    state_.set(name, std::move(value));
    return name;
  }
  std::string add(const std::string& op, std::vector<std::string> inputs,
                  Attributes attributes = {}) {
    const std::string output = part();
    emit(op, std::move(inputs), output, std::move(attributes));
    return output;
  }
  void finish(const std::string& op, std::vector<std::string> inputs) {
    emit(op, std::move(inputs), node_.outputs[0], {});
  }
  void emit(const std::string& op, std::vector<std::string> inputs, const std::string& output,
            Attributes attributes) {
    const std::string name = node_.name.empty() ? node_.outputs[0] : node_.name;
    operators().at(op)(state_, {name, op, "", std::move(inputs), {output}, std::move(attributes)});
  }

  ImportState& state_;
  const Node& node_;
  bool is_in_rows_ = true;
  std::int64_t heads_ = 0;
  int count_ = 0;
};

void import_attention(ImportState& state, const Node& node) { AttentionImport(state, node).run(); }

}  // namespace

void add_attention_operators(Operators& operators) {
  operators.insert({{"Attention", import_attention}});
}

}  // namespace moil::onnx
