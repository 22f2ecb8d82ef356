#include "engine/model/weights.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>

#include "base/error.h"

namespace moil {
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

WeightMap weights_of(const ModelDescription& part, const WeightMap& all) {
  WeightMap own;
  for (const Node& node : build_graph(part, 1).nodes) {
    for (const WeightSpec& w : node.weights) {
      if (const auto it = all.find(weight_name(node, w)); it != all.end()) own.insert(*it);
    }
  }
  return own;
}

WeightMap take_weights_of(const ModelDescription& part, WeightMap& all) {
  WeightMap own;
  for (const Node& node : build_graph(part, 1).nodes)
    for (const WeightSpec& w : node.weights) own.insert(all.extract(weight_name(node, w)));
  return own;
}

bool shares_weights(const ModelDescription& model, const std::string& layer) {
  return std::any_of(model.layers.begin(), model.layers.end(), [&](const LayerDescription& other) {
    if (other.name == layer && !other.shares.empty()) return true;
    return std::any_of(other.shares.begin(), other.shares.end(), [&](const auto& share) {
      return share.second.substr(0, share.second.rfind('.')) == layer;
    });
  });
}

}  // namespace moil
