#include "engine/io/onnx/onnx_graph.h"

#include <utility>

#include "base/error.h"

namespace moil::onnx {
namespace {

template <typename T>
const T* find(const Node& node, const std::string& name) {
  const auto it = node.attributes.find(name);
  if (it == node.attributes.end()) return nullptr;
  const T* value = std::get_if<T>(&it->second);
  if (value == nullptr) {
    throw Error(ErrorCode::kBadData,
                node.label() + ": attribute \"" + name + "\" is of another type than expected");
  }
  return value;
}

template <typename T>
T find_or(const Node& node, const std::string& name, T fallback) {
  const T* value = find<T>(node, name);
  return value == nullptr ? std::move(fallback) : *value;
}

}  // namespace

std::int64_t Tensor::elements() const {
  return static_cast<std::int64_t>(is_float ? floats.size() : ints.size());
}

Tensor Tensor::of(std::vector<std::int64_t> dims, std::vector<float> values) {
  return {std::move(dims), true, std::move(values), {}, true};
}

Tensor Tensor::of_ints(std::vector<std::int64_t> dims, std::vector<std::int64_t> values) {
  return {std::move(dims), false, {}, std::move(values), true};
}

std::int64_t Node::integer(const std::string& attribute, std::int64_t fallback) const {
  return find_or(*this, attribute, fallback);
}

double Node::number(const std::string& attribute, double fallback) const {
  return find_or(*this, attribute, fallback);
}

std::string Node::word(const std::string& attribute, const std::string& fallback) const {
  return find_or(*this, attribute, fallback);
}

std::vector<std::int64_t> Node::integers(const std::string& attribute,
                                         std::vector<std::int64_t> fallback) const {
  return find_or(*this, attribute, std::move(fallback));
}

std::vector<std::string> Node::words(const std::string& attribute) const {
  return find_or(*this, attribute, std::vector<std::string>());
}

std::vector<double> Node::numbers(const std::string& attribute) const {
  return find_or(*this, attribute, std::vector<double>());
}

const Tensor* Node::tensor(const std::string& attribute) const {
  return find<Tensor>(*this, attribute);
}

std::string Node::label() const {
  const std::string& known = !name.empty() || outputs.empty() ? name : outputs[0];
  return "node \"" + known + "\" (" + (domain.empty() ? "" : domain + ".") + op + ")";
}

}  // namespace moil::onnx
