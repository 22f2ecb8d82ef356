// What a network keeps between steps: loading, saving and restoring it.
#include <algorithm>

#include "base/error.h"
#include "base/index.h"
#include "base/process_memory.h"
#include "engine/layers/weight_order.h"
#include "engine/run/network.h"
#include "engine/tensor/memory_pool.h"
#include "engine/tensor/swap_file.h"

namespace moil {

// A node between steps: its weights and saved tensors, wherever they rest.
struct Network::Resting {
  std::vector<PersistentTensor::Data> held;
  std::vector<float*> weights;  // null if the plan keeps none
  std::vector<std::byte*> saved;
  LayerRun run() const {
    LayerRun run;
    run.weights = weights;
    run.saved = saved;
    return run;
  }
};

namespace {

const NamedTensor& find_weight(const WeightMap& weights, const std::string& name) {
  const auto it = weights.find(name);
  if (it == weights.end())
    throw Error(ErrorCode::kBadData, "the model's weights lack \"" + name + "\"");
  return it->second;
}

void check_weight(const NamedTensor& weight, const std::string& name, const WeightSpec& spec) {
  const auto dims = spec.dims.values();
  if (!std::equal(dims.begin(), dims.end(), weight.dims.begin(), weight.dims.end())) {
    std::string found;
    for (const auto d : weight.dims) found += (found.empty() ? "" : "x") + std::to_string(d);
    throw Error(ErrorCode::kBadData, "weight \"" + name + "\" is " + found + "; its layer needs " +
                                         spec.dims.to_string());
  }
  if (weight.data.size() != at(spec.dims.elements())) {
    throw Error(ErrorCode::kBadData, "weight \"" + name + "\" has " +
                                         std::to_string(weight.data.size()) +
                                         " values; its dims say " + spec.dims.to_string());
  }
}

void check_weights_of(const Graph& graph, const WeightMap& weights) {
  for (const Node& node : graph.nodes) {
    for (const WeightSpec& spec : node.weights) {
      const std::string name = weight_name(node, spec);
      check_weight(find_weight(weights, name), name, spec);
    }
  }
}

}  // namespace

PersistentTensor::Data PersistentTensor::data() const {
  Data data;
  if (file_ == nullptr) {
    data.values = {resting_, elements};
  } else {
    data.mapping = file_->map(file_offset_, elements * sizeof(float));
    data.values = {reinterpret_cast<float*>(data.mapping.get()), elements};
  }
  return data;
}

PersistentTensor Network::persistent_tensor(TensorId id) const {
  rest_on_host();
  const TensorSpec& spec = plan_.pool.spec(id);
  PersistentTensor tensor;
  tensor.name = spec.name;
  tensor.kind = spec.kind;
  tensor.elements = at(spec.info.dims.elements());
  const TensorId owner = plan_.pool.owner(id);
  const std::size_t stay = plan_.stays_of(owner).first;
  if (plan_.stays[stay].swapped()) {
    tensor.file_ = swap_file_.get();
    tensor.file_offset_ = file_offsets_[at(owner)];
  } else {
    tensor.resting_ = memory_->as<float>(plan_.memory.offsets[stay]);
  }
  return tensor;
}

Network::Resting Network::rest(int node) const {
  const NodePlan& t = plan_.nodes[at(node)];
  Resting resting;
  for (const TensorId id : t.weights) {
    if (id != kNoTensor) resting.held.push_back(persistent_tensor(id).data());
    resting.weights.push_back(id == kNoTensor ? nullptr : resting.held.back().values.data());
  }
  for (const TensorId id : t.saved) {
    const bool rests = id != kNoTensor && plan_.pool.is_always(id);
    resting.saved.push_back(rests ? reinterpret_cast<std::byte*>(data(id, 0)) : nullptr);
  }
  return resting;
}

void Network::load(const WeightMap& weights) {
  require_memory();
  check_weights_of(graph_, weights);  // all of them before the first is written
  const auto read = [&](const std::string& name) -> const NamedTensor& {
    return find_weight(weights, name);
  };
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) load_node(i, read, true);
  release_idle_memory();
}

void Network::move_in(WeightMap& weights) {
  require_memory();
  check_weights_of(graph_, weights);
  const auto read = [&](const std::string& name) -> const NamedTensor& {
    return find_weight(weights, name);
  };
  std::map<std::string, int> last;  // node that has the weight
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i)
    for (const WeightSpec& spec : graph_.nodes[at(i)].weights)
      last[weight_name(graph_.nodes[at(i)], spec)] = i;
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
    load_node(i, read, true);
    const Node& node = graph_.nodes[at(i)];
    for (const WeightSpec& spec : node.weights)
      if (last.at(weight_name(node, spec)) == i) weights.erase(weight_name(node, spec));
  }
  release_idle_memory();  // what the weights came in
}

void Network::load_each(const WeightReader& read) {
  require_memory();
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) load_node(i, read, false);
  release_idle_memory();
}

void Network::load_node(int i, const WeightReader& read, bool lasting) {
  const Node& node = graph_.nodes[at(i)];
  Resting resting = rest(i);
  std::vector<std::vector<float>> staging;  // for weights that the layer only packs
  for (std::size_t w = 0; w < node.weights.size(); ++w) {
    const WeightSpec& spec = node.weights[w];
    const std::string name = weight_name(node, spec);
    const NamedTensor& source = read(name);
    check_weight(source, name, spec);
    if (resting.weights[w] == nullptr && lasting && spec.order == WeightOrder::kPlain) {
      resting.weights[w] = const_cast<float*>(source.data.data());  // packing only reads it
      continue;
    }
    if (resting.weights[w] == nullptr) {
      staging.emplace_back(source.data.size());
      resting.weights[w] = staging.back().data();
    }
    to_memory_order(spec, source.data.data(), resting.weights[w]);
  }
  node.layer->weights_changed(resting.run());
}

void Network::weights_changed() {
  require_memory();
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
    const auto& kept = plan_.nodes[at(i)].layer.keeps_weight;
    if (std::find(kept.begin(), kept.end(), false) == kept.end())
      graph_.nodes[at(i)].layer->weights_changed(rest(i).run());
  }
}

void Network::save(WeightMap& weights) const {
  require_memory();
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) save_node(i, weights);
}

// What rests between steps takes this: all of it, or what of it lies in the pool.
std::size_t Network::resting_bytes(int node, bool in_pool) const {
  const NodePlan& t = plan_.nodes[at(node)];
  std::size_t bytes = 0;
  const auto add = [&](TensorId id) {
    if (id == kNoTensor || !plan_.pool.is_always(id)) return;
    const bool swapped = plan_.stays[plan_.stays_of(plan_.pool.owner(id)).first].swapped();
    if (!in_pool || !swapped) bytes += plan_.pool.spec(id).info.bytes();
  };
  for (const TensorId id : t.weights) add(id);
  for (const TensorId id : t.saved) add(id);
  return bytes;
}

std::size_t Network::peak_bytes() const {
  std::size_t waiting = 0, loaded = 0, peak = plan_.memory.total_bytes;
  for (const Node& node : graph_.nodes) waiting += weight_bytes(node);
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
    const Node& node = graph_.nodes[at(i)];
    std::size_t staged = 0;
    for (std::size_t w = 0; w < node.weights.size(); ++w) {
      const WeightSpec& spec = node.weights[w];
      if (plan_.nodes[at(i)].weights[w] == kNoTensor && spec.order != WeightOrder::kPlain)
        staged += at(spec.dims.elements()) * sizeof(float);
    }
    peak = std::max(peak, waiting + loaded + staged + resting_bytes(i, false));
    waiting -= weight_bytes(node);
    loaded += resting_bytes(i, true);
  }
  return peak;
}

std::size_t Network::peak_bytes_each() const {
  std::size_t loaded = 0, peak = plan_.memory.total_bytes;
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
    // At most: a weight as it was read, the node's as they are staged, and as they rest.
    peak = std::max(peak, loaded + 2 * weight_bytes(graph_.nodes[at(i)]) + resting_bytes(i, false));
    loaded += resting_bytes(i, true);
  }
  return peak;
}

NamedTensor Network::weight(const std::string& name) const {
  require_memory();
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
    const Node& node = graph_.nodes[at(i)];
    for (std::size_t w = 0; w < node.weights.size(); ++w) {
      const WeightSpec& spec = node.weights[w];
      const TensorId id = plan_.nodes[at(i)].weights[w];
      if (id == kNoTensor || weight_name(node, spec) != name) continue;
      const auto dims = spec.dims.values();
      const PersistentTensor::Data data = persistent_tensor(id).data();
      NamedTensor tensor{{dims.begin(), dims.end()}, std::vector<float>(data.values.size())};
      to_file_order(spec, data.values.data(), tensor.data.data());
      return tensor;
    }
  }
  throw Error(ErrorCode::kNotFound, "the network has no weight \"" + name + "\"");
}

void Network::save_node(int i, WeightMap& weights) const {
  const Node& node = graph_.nodes[at(i)];
  const Resting resting = rest(i);
  for (std::size_t w = 0; w < node.weights.size(); ++w) {
    const WeightSpec& spec = node.weights[w];
    if (resting.weights[w] == nullptr) continue;
    const auto dims = spec.dims.values();
    NamedTensor& target = weights[weight_name(node, spec)];
    target.dims.assign(dims.begin(), dims.end());
    target.data.resize(at(spec.dims.elements()));
    to_file_order(spec, resting.weights[w], target.data.data());
  }
}

void Network::move_out(WeightMap& weights, OptimizerStates& states) {
  discard_transient();
  for (const PersistentTensor& tensor : persistent()) {
    if (tensor.kind != TensorKind::kOptimizerState) continue;
    const auto data = tensor.data();
    states[tensor.name].assign(data.values.begin(), data.values.end());
    give_back(data);
  }
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
    save_node(i, weights);
    for (const auto& data : rest(i).held) give_back(data);
  }
  release();
}

void Network::give_back(const PersistentTensor::Data& data) const {
  if (data.mapping) return;  // of the swap file
  const auto* const begin = reinterpret_cast<const std::byte*>(data.values.data());
  memory_->discard(static_cast<std::size_t>(begin - memory_->data()), data.values.size_bytes());
}

std::vector<PersistentTensor> Network::persistent() const {
  require_memory();
  std::vector<PersistentTensor> tensors;
  for (TensorId id = 0; id < static_cast<TensorId>(plan_.pool.size()); ++id) {
    const TensorSpec& spec = plan_.pool.spec(id);
    const bool persists = spec.kind == TensorKind::kWeight || spec.kind == TensorKind::kStatistic ||
                          spec.kind == TensorKind::kOptimizerState;
    if (persists && spec.mode == CreateMode::kCreate) tensors.push_back(persistent_tensor(id));
  }
  return tensors;
}

}  // namespace moil
