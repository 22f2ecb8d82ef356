// A network that runs: a graph, its plan, and one pool of memory for all of it.
//
//   KernelSelector kernels(...);
//   Network network(description, {.batch = 32, .plan = {...}}, kernels);
//   network.plan().memory.total_bytes;       // the promise, before anything is allocated
//   network.allocate();
//   network.load(weights);
//   copy into network.input(0); network.forward(); read network.output(0);
//
// After allocate() no step allocates. Throws moil::Error; kFailedPrecondition for whatever needs
// memory before allocate(). One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/network_plan.h"

namespace moil {

class MemoryPool;

struct NetworkOptions {
  std::int64_t batch = 1;
  PlanOptions plan;
};

// One trained weight at its AG step.
struct WeightUpdate {
  std::string_view name;
  float* weight = nullptr;
  const float* gradient = nullptr;
  std::span<float* const> states;
  std::int64_t elements = 0;
  bool decays = true;
};

// What applies gradients (train/ implements it). apply() is called once a trained weight and step.
class WeightUpdater {
 public:
  virtual ~WeightUpdater() = default;
  // Before the first apply() of a step, where clipping is planned: every gradient is there.
  virtual void gradients_ready(std::span<const WeightUpdate> updates) = 0;
  virtual void apply(const WeightUpdate& update) = 0;
};

// Memory that must survive between runs: weights, statistics, optimizer states. In memory order.
struct PersistentTensor {
  std::string name;
  TensorKind kind;
  std::span<float> data;
};

class Network {
 public:
  // Builds and plans; allocates no tensor.
  Network(const ModelDescription& description, const NetworkOptions& options,
          KernelSelector& kernels);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const Graph& graph() const { return graph_; }
  const NetworkPlan& plan() const { return plan_; }

  void allocate();
  // Weights by name in file order; more than the network has is fine, fewer or other dims are
  // kBadData naming the weight, and leave the network as it was.
  void load(const WeightMap& weights);
  // Copies the network's weights and statistics into `weights`, in file order.
  void save(WeightMap& weights) const;

  std::size_t inputs() const { return graph_.inputs.size(); }
  const TensorInfo& input_info(std::size_t i) const;
  float* input(std::size_t i);  // overwritten by in-place steps: fill it before each step
  const TensorInfo& output_info(std::size_t i) const;
  const float* output(std::size_t i) const;

  // random_key: differs from step to step, the same for a step that is run again.
  void forward(std::uint64_t random_key = 0);
  // Forward and backward. `accumulate`: gradients add to those of the micro-batches before;
  // `updater` null: the last micro-batch of the step is yet to come.
  void train_step(std::uint64_t random_key, WeightUpdater* updater, bool accumulate = false);

  std::vector<PersistentTensor> persistent();
  // After persistent memory was written from outside (a restored checkpoint).
  void weights_changed();

 private:
  struct NodeRun;

  void require_memory() const;
  float* data(TensorId id) const;
  void bind(int node);
  void run_step(const PlannedStep& step, std::uint64_t key, bool accumulate);
  void apply_gradients(int node, WeightUpdater& updater);
  LayerRun forward_run(NodeRun& run, std::uint64_t key) const;

  Graph graph_;
  NetworkPlan plan_;
  bool clips_ = false;
  std::unique_ptr<MemoryPool> memory_;
  std::vector<std::size_t> offsets_;  // by tensor owner
  std::vector<std::unique_ptr<NodeRun>> runs_;
  std::vector<WeightUpdate> updates_;  // of all nodes, for gradients_ready()
};

// Fresh weights for every layer, a function of (seed, weight names) alone.
[[nodiscard]] WeightMap initial_weights(const Graph& graph, std::uint64_t seed);

// kBadData listing what is missing, unknown or of other dims.
void check_weights(const Graph& graph, const WeightMap& weights);

}  // namespace moil
