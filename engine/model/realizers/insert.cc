#include "engine/model/realizers/insert.h"

#include <map>
#include <set>

#include "base/error.h"
#include "engine/model/graph.h"

namespace moil {
namespace {

// Values by the layer that now gives what readers of another want.
class Rewiring {
 public:
  void put(const std::string& layer, const std::string& follower) { instead_[layer] = follower; }
  void apply(std::string& value) const {
    const auto [layer, slot] = split_value_name(value);
    const auto it = instead_.find(layer);
    if (it == instead_.end()) return;
    if (slot != 0) {
      throw Error(ErrorCode::kInvalidArgument, "\"" + it->second +
                                                   "\" cannot stand behind layer \"" + layer +
                                                   "\", which has several outputs");
    }
    value = it->second;
  }

 private:
  std::map<std::string, std::string> instead_;
};

}  // namespace

FreshNames::FreshNames(const ModelDescription& model) {
  for (const InputDescription& input : model.inputs) taken_.insert(input.name);
  for (const LayerDescription& layer : model.layers) taken_.insert(layer.name);
}

std::string FreshNames::take(const std::string& wish) {
  std::string name = wish;
  for (int number = 2; !taken_.insert(name).second; ++number)
    name = wish + "_" + std::to_string(number);
  return name;
}

ModelDescription put_behind(
    const ModelDescription& model, const std::string& suffix,
    const std::function<std::optional<Follower>(LayerDescription&)>& follower) {
  ModelDescription result = model;
  result.layers.clear();
  Rewiring rewiring;
  FreshNames names(model);
  std::set<std::size_t> added;
  for (LayerDescription layer : model.layers) {
    const std::string name = layer.name;
    const auto next = follower(layer);
    result.layers.push_back(std::move(layer));
    if (!next) continue;
    const std::string behind = names.take(name + "/" + suffix);
    added.insert(result.layers.size());
    result.layers.push_back({behind, next->type, {name}, next->properties});
    rewiring.put(name, behind);
  }
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    if (added.contains(i)) continue;
    for (auto& input : result.layers[i].inputs) rewiring.apply(input);
  }
  for (auto& output : result.outputs) rewiring.apply(output);
  return result;
}

}  // namespace moil
