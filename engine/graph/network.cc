#include "engine/graph/network.h"

#include <algorithm>

#include "base/error.h"
#include "engine/layers/weight_order.h"
#include "engine/tensor/memory_pool.h"

namespace moil {

// A node's pointers, laid out once so that a step only hands them over.
struct Network::NodeRun {
  std::vector<const float*> inputs, output_derivatives;
  std::vector<float*> outputs, input_derivatives, weights, gradients;
  std::vector<std::vector<float*>> states;
  std::vector<std::byte*> saved;
  std::byte* workspace[3] = {};  // F, CG, CD
  std::vector<WeightUpdate> updates;
  std::uint64_t key = 0;
};

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

const NamedTensor& find_weight(const WeightMap& weights, const std::string& name,
                               const WeightSpec& spec) {
  const auto it = weights.find(name);
  if (it == weights.end())
    throw Error(ErrorCode::kBadData, "the model's weights lack \"" + name + "\"");
  const auto dims = spec.dims.values();
  if (!std::equal(dims.begin(), dims.end(), it->second.dims.begin(), it->second.dims.end())) {
    std::string found;
    for (const auto d : it->second.dims) found += (found.empty() ? "" : "x") + std::to_string(d);
    throw Error(ErrorCode::kBadData, "weight \"" + name + "\" is " + found + "; its layer needs " +
                                         spec.dims.to_string());
  }
  if (it->second.data.size() != at(spec.dims.elements())) {
    throw Error(ErrorCode::kBadData, "weight \"" + name + "\" has " +
                                         std::to_string(it->second.data.size()) +
                                         " values; its dims say " + spec.dims.to_string());
  }
  return it->second;
}

}  // namespace

Network::Network(const ModelDescription& description, const NetworkOptions& options,
                 KernelSelector& kernels)
    : graph_(build_graph(description, options.batch)),
      plan_(plan_network(graph_, options.plan, kernels)),
      clips_(options.plan.orders.clip_by_global_norm) {}

Network::~Network() = default;

void Network::allocate() {
  memory_ = std::make_unique<MemoryPool>(plan_.memory.total_bytes);
  offsets_.assign(plan_.pool.size(), 0);
  for (std::size_t r = 0; r < plan_.pool.owners().size(); ++r) {
    offsets_[at(plan_.pool.owners()[r])] = plan_.memory.offsets[r];
  }
  runs_.clear();
  updates_.clear();
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) bind(i);
}

void Network::require_memory() const {
  if (!memory_) throw Error(ErrorCode::kFailedPrecondition, "the network has no memory yet");
}

float* Network::data(TensorId id) const {
  require_memory();
  if (id == kNoTensor) return nullptr;
  const TensorId owner = plan_.pool.owner(id);
  return reinterpret_cast<float*>(memory_->data(offsets_[at(owner)]));
}

void Network::bind(int node) {
  const NodeTensors& t = plan_.nodes[at(node)];
  auto run = std::make_unique<NodeRun>();
  const auto pointers = [this](const std::vector<TensorId>& ids, auto& out) {
    for (const TensorId id : ids) out.push_back(data(id));
  };
  pointers(t.inputs, run->inputs);
  pointers(t.outputs, run->outputs);
  pointers(t.output_derivatives, run->output_derivatives);
  pointers(t.input_derivatives, run->input_derivatives);
  pointers(t.weights, run->weights);
  pointers(t.gradients, run->gradients);
  for (const TensorId id : t.saved) run->saved.push_back(reinterpret_cast<std::byte*>(data(id)));
  const TensorId workspaces[] = {t.forward_workspace, t.gradient_workspace, t.derivative_workspace};
  for (int s = 0; s < 3; ++s) run->workspace[s] = reinterpret_cast<std::byte*>(data(workspaces[s]));
  run->states.resize(t.states.size());
  run->key = mix(static_cast<std::uint64_t>(node) + 1);
  const Node& n = graph_.nodes[at(node)];
  for (std::size_t w = 0; w < t.weights.size(); ++w) {
    pointers(t.states[w], run->states[w]);
    if (t.gradients[w] == kNoTensor) continue;
    run->updates.push_back({plan_.pool.spec(t.weights[w]).name, run->weights[w], run->gradients[w],
                            run->states[w], n.weights[w].dims.elements(), n.weights[w].decays});
  }
  updates_.insert(updates_.end(), run->updates.begin(), run->updates.end());
  runs_.push_back(std::move(run));
}

LayerRun Network::forward_run(NodeRun& run, std::uint64_t key) const {
  return {run.inputs,
          run.outputs,
          run.output_derivatives,
          run.input_derivatives,
          run.weights,
          run.gradients,
          run.saved,
          run.workspace[0],
          false,
          mix(key ^ run.key)};
}

void Network::run_step(const PlannedStep& step, std::uint64_t key, bool accumulate) {
  NodeRun& run = *runs_[at(step.node)];
  Layer& layer = *graph_.nodes[at(step.node)].layer;
  LayerRun args = forward_run(run, key);
  args.accumulate = accumulate;
  if (step.kind == StepKind::kForward) {
    layer.forward(args);
  } else if (step.kind == StepKind::kComputeGradient) {
    args.workspace = run.workspace[1];
    layer.compute_gradient(args);
  } else {
    args.workspace = run.workspace[2];
    layer.compute_derivative(args);
  }
}

void Network::forward(std::uint64_t random_key) {
  require_memory();
  for (const PlannedStep& step : plan_.steps) {
    if (step.kind == StepKind::kForward) run_step(step, random_key, false);
  }
}

void Network::train_step(std::uint64_t random_key, WeightUpdater* updater, bool accumulate) {
  require_memory();
  bool announced = !clips_;
  for (const PlannedStep& step : plan_.steps) {
    if (step.kind != StepKind::kApplyGradient) {
      run_step(step, random_key, accumulate);
      continue;
    }
    if (updater == nullptr) continue;
    if (!announced) updater->gradients_ready(updates_);
    announced = true;
    apply_gradients(step.node, *updater);
  }
}

void Network::apply_gradients(int node, WeightUpdater& updater) {
  for (const WeightUpdate& update : runs_[at(node)]->updates) updater.apply(update);
}

const TensorInfo& Network::input_info(std::size_t i) const {
  return graph_.values[at(graph_.inputs.at(i))].info;
}
const TensorInfo& Network::output_info(std::size_t i) const {
  return graph_.values[at(graph_.outputs.at(i))].info;
}
float* Network::input(std::size_t i) { return data(plan_.values[at(graph_.inputs.at(i))]); }
const float* Network::output(std::size_t i) const {
  return data(plan_.values[at(graph_.outputs.at(i))]);
}

void Network::load(const WeightMap& weights) {
  require_memory();
  for (const Node& node : graph_.nodes) {  // all of them before the first is written
    for (const WeightSpec& spec : node.weights) find_weight(weights, weight_name(node, spec), spec);
  }
  std::vector<std::vector<float>> staging;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    NodeRun& run = *runs_[i];
    staging.clear();
    std::vector<float*> pointers;
    for (std::size_t w = 0; w < node.weights.size(); ++w) {
      const WeightSpec& spec = node.weights[w];
      const NamedTensor& source = find_weight(weights, weight_name(node, spec), spec);
      float* target = run.weights[w];
      if (target == nullptr) target = staging.emplace_back(source.data.size()).data();
      to_memory_order(spec, source.data.data(), target);
      pointers.push_back(target);
    }
    LayerRun args = forward_run(run, 0);
    args.weights = pointers;
    node.layer->weights_changed(args);
  }
}

void Network::weights_changed() {
  require_memory();
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (plan_.nodes[i].plan.keeps_weights)
      graph_.nodes[i].layer->weights_changed(forward_run(*runs_[i], 0));
  }
}

void Network::save(WeightMap& weights) const {
  require_memory();
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    for (std::size_t w = 0; w < node.weights.size(); ++w) {
      const WeightSpec& spec = node.weights[w];
      const float* source = runs_[i]->weights[w];
      if (source == nullptr) continue;
      const auto dims = spec.dims.values();
      NamedTensor& target = weights[weight_name(node, spec)];
      target.dims.assign(dims.begin(), dims.end());
      target.data.resize(static_cast<std::size_t>(spec.dims.elements()));
      to_file_order(spec, source, target.data.data());
    }
  }
}

std::vector<PersistentTensor> Network::persistent() {
  std::vector<PersistentTensor> tensors;
  for (TensorId id = 0; id < static_cast<TensorId>(plan_.pool.size()); ++id) {
    const TensorSpec& spec = plan_.pool.spec(id);
    const bool persists = spec.kind == TensorKind::kWeight || spec.kind == TensorKind::kStatistic ||
                          spec.kind == TensorKind::kOptimizerState;
    if (!persists || spec.mode != CreateMode::kCreate) continue;
    tensors.push_back(
        {spec.name, spec.kind, {data(id), static_cast<std::size_t>(spec.info.dims.elements())}});
  }
  return tensors;
}

}  // namespace moil
