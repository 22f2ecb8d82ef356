#include "engine/model/initial_weights.h"

#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/random.h"

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

}  // namespace moil
