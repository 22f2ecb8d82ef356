#include "daemon/models/model_diff.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/models/model_folder.h"

namespace moil::night {
namespace {

using Shape = std::vector<std::int64_t>;

std::string layer_of(const std::string& weight) { return weight.substr(0, weight.rfind('.')); }

std::int64_t weights_in(const Shape& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= d;
  return count;
}

// Calls each(i, j): where the elements that two tensors of one rank have in common lie in either.
template <class Each>
void for_common(const Shape& a, const Shape& b, const Each& each) {
  if (a.size() != b.size()) return;
  Shape common(a.size()), at(a.size(), 0);
  for (std::size_t d = 0; d < a.size(); ++d) common[d] = std::min(a[d], b[d]);
  for (std::int64_t n = weights_in(common); n > 0; --n) {
    std::size_t i = 0, j = 0;
    for (std::size_t d = 0; d < a.size(); ++d) {
      i = i * static_cast<std::size_t>(a[d]) + static_cast<std::size_t>(at[d]);
      j = j * static_cast<std::size_t>(b[d]) + static_cast<std::size_t>(at[d]);
    }
    each(i, j);
    for (std::size_t d = a.size(); d-- > 0;) {
      if (++at[d] < common[d]) break;
      at[d] = 0;
    }
  }
}

struct LayerChange {
  std::int64_t weights = 0;    // of the second, or of the first if the second has none
  double moved = 0, norm = 0;  // sums of squares
  bool identical = true, resized = false, in_a = false, in_b = false;

  void compare(const NamedTensor& a, const NamedTensor& b) {
    in_a = in_b = true;
    weights += static_cast<std::int64_t>(b.data.size());
    if (a.dims == b.dims &&
        std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(float)) == 0) {
      for (const float x : a.data) norm += double{x} * x;
      return;
    }
    identical = false;
    resized = resized || a.dims != b.dims;
    for_common(a.dims, b.dims, [&](std::size_t i, std::size_t j) {
      const double from = a.data[i], by = b.data[j] - from;
      norm += from * from;
      moved += by * by;
    });
  }
  void only(const Shape& dims, bool is_in_a) {
    weights += weights_in(dims);
    identical = false;
    (is_in_a ? in_a : in_b) = true;
  }
};

Json to_json(const std::string& layer, const std::string& type, const LayerChange& c) {
  const bool in_both = c.in_a && c.in_b;
  Json change;
  if (in_both && c.norm > 0) change = std::sqrt(c.moved / c.norm);
  if (in_both && c.moved == 0 && c.norm == 0) change = 0.0;
  return {{"layer", layer},
          {"type", type},
          {"weights", c.weights},
          {"in", in_both  ? "both"
                 : c.in_a ? "a"
                          : "b"},
          {"identical", c.identical},
          {"resized", c.resized},
          {"change", std::move(change)}};
}

// Layers with weights, in the order of the model.
struct Layers {
  std::vector<std::string> order;
  std::map<std::string, std::string> types;

  void add(const StoredModel& model) {
    for (const LayerDescription& layer : model.description.layers)
      if (types.emplace(layer.name, layer.type).second) order.push_back(layer.name);
  }
};

Json layers_of(const StoredModel& a, const StoredModel& b) {
  std::map<std::string, LayerChange> changes;
  for (const auto& [name, dims] : b.weights.shapes()) {
    LayerChange& change = changes[layer_of(name)];
    if (a.weights.shapes().contains(name))
      change.compare(a.weights.read(name), b.weights.read(name));
    else
      change.only(dims, false);
  }
  for (const auto& [name, dims] : a.weights.shapes())
    if (!b.weights.shapes().contains(name)) changes[layer_of(name)].only(dims, true);
  Layers layers;
  layers.add(b);
  layers.add(a);
  Json list = Json::array();
  for (const std::string& layer : layers.order) {
    const auto change = changes.find(layer);
    if (change != changes.end())
      list.push_back(to_json(layer, layers.types.at(layer), change->second));
  }
  return list;
}

Json labels_of(const StoredModel& a, const StoredModel& b) {
  const std::set<std::string> in_a(a.labels.begin(), a.labels.end());
  const std::set<std::string> in_b(b.labels.begin(), b.labels.end());
  Json list = Json::array();
  for (const std::string& label : a.labels)
    list.push_back({{"label", label}, {"in", in_b.contains(label) ? "both" : "a"}});
  for (const std::string& label : b.labels)
    if (!in_a.contains(label)) list.push_back({{"label", label}, {"in", "b"}});
  return list;
}

}  // namespace

Json model_diff(const std::filesystem::path& a, const std::filesystem::path& b) {
  const StoredModel first = open_model_folder(a), second = open_model_folder(b);
  return {{"layers", layers_of(first, second)}, {"labels", labels_of(first, second)}};
}

}  // namespace moil::night
