// Fresh weights, and the check of given ones.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "engine/graph/network.h"

namespace moil {
namespace {

class WeightRandom {
 public:
  WeightRandom(std::uint64_t seed, const std::string& name) : state_(seed) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  double uniform() {  // (0, 1)
    return (static_cast<double>(splitmix64(state_) >> 11) + 0.5) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

void fill_weights(const WeightSpec& spec, WeightRandom random, std::vector<float>& data) {
  const auto in = static_cast<double>(spec.fan_in), out = static_cast<double>(spec.fan_out);
  for (float& x : data) {
    switch (spec.init) {
      case Initializer::kZeros:
        x = 0;
        break;
      case Initializer::kOnes:
        x = 1;
        break;
      case Initializer::kQuarter:
        x = 0.25F;
        break;
      case Initializer::kHeNormal:
        x = static_cast<float>(random.normal() * std::sqrt(2.0 / in));
        break;
      case Initializer::kXavierUniform:
        x = static_cast<float>((2 * random.uniform() - 1) * std::sqrt(6.0 / (in + out)));
        break;
      case Initializer::kUniformFanIn:
        x = static_cast<float>((2 * random.uniform() - 1) / std::sqrt(in));
        break;
    }
  }
}

}  // namespace

NamedTensor initial_weight(const WeightSpec& spec, const std::string& name, std::uint64_t seed) {
  const auto dims = spec.dims.values();
  NamedTensor tensor{{dims.begin(), dims.end()},
                     std::vector<float>(static_cast<std::size_t>(spec.dims.elements()))};
  fill_weights(spec, WeightRandom(seed, name), tensor.data);
  return tensor;
}

WeightMap initial_weights(const Graph& graph, std::uint64_t seed) {
  WeightMap weights;
  for (const Node& node : graph.nodes) {
    for (const WeightSpec& spec : node.weights) {
      const std::string name = weight_name(node, spec);
      weights[name] = initial_weight(spec, name, seed);
    }
  }
  return weights;
}

namespace {

// What does not fit, of which a message tells the first alone: files may name many.
class Problems {
 public:
  void note(const std::string& text) {
    if (++count_ <= kMostTold) text_ += (text_.empty() ? "" : "; ") + text;
  }
  void refuse(const std::string& about) const {
    if (count_ == 0) return;
    std::string more;
    if (count_ > kMostTold) more = "; and " + std::to_string(count_ - kMostTold) + " more";
    throw Error(ErrorCode::kBadData, about + ": " + text_ + more);
  }

 private:
  static constexpr std::size_t kMostTold = 20;
  std::string text_;
  std::size_t count_ = 0;
};

bool all_finite(const std::vector<float>& values) {
  constexpr std::size_t kBlock = 1024;
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const std::size_t end = std::min(values.size(), begin + kBlock);
    std::uint32_t bad = 0;
    for (std::size_t i = begin; i < end; ++i)
      bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(values[i]) & 0x7f800000U) ==
                                        0x7f800000U);
    if (bad != 0) return false;
  }
  return true;
}

// Weights whose dims fit.
void check_values(const Graph& graph, const WeightMap& weights) {
  Problems problems;
  for (const Node& node : graph.nodes) {
    for (const WeightSpec& spec : node.weights) {
      const std::string name = weight_name(node, spec);
      const std::vector<float>& values = weights.at(name).data;
      if (!all_finite(values)) {
        problems.note("\"" + name + "\" has values that are no finite numbers");
      } else if (spec.name == "running_var" && !values.empty() &&
                 *std::min_element(values.begin(), values.end()) < 0) {
        problems.note("\"" + name + "\" has variances below 0");
      }
    }
  }
  problems.refuse("the weights cannot be computed with");
}

}  // namespace

void check_weights(const Graph& graph, const WeightMap& weights) {
  Problems problems;
  std::set<std::string> known;
  for (const Node& node : graph.nodes) {
    for (const WeightSpec& spec : node.weights) {
      const std::string name = weight_name(node, spec);
      known.insert(name);
      const auto it = weights.find(name);
      const auto dims = spec.dims.values();
      if (it == weights.end()) {
        problems.note("\"" + name + "\" is missing");
      } else if (!std::equal(dims.begin(), dims.end(), it->second.dims.begin(),
                             it->second.dims.end())) {
        problems.note("\"" + name + "\" does not have the dims " + spec.dims.to_string());
      }
    }
  }
  for (const auto& [name, tensor] : weights) {
    if (!known.contains(name)) problems.note("no layer has a weight \"" + name + "\"");
  }
  problems.refuse("the weights do not fit the model");
  check_values(graph, weights);
}

}  // namespace moil
