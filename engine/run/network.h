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
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/model/weights.h"
#include "engine/plan/network_plan.h"

namespace moil {

class MemoryPool;
class ProcessorRun;
class SwapFile;
class Swapper;
class WeightElsewhere;
struct SwapStatistics;

struct NetworkOptions {
  std::int64_t batch = 1;
  PlanOptions plan;
  std::filesystem::path swap_folder = {};  // where plan.swap keeps its file; on a real disk
};

// One trained weight at a step of its layer. At CG only the gradient is sure to be in memory.
struct WeightUpdate {
  std::string_view name;
  float* weight = nullptr;
  const float* gradient = nullptr;
  std::span<float* const> states;
  std::int64_t elements = 0;  // of the gradient
  bool decays = true;
  // Above 0: the gradient has `rows` of the weight alone, which may be none, one behind the other.
  std::int64_t row_elements = 0;
  std::span<const std::int32_t> rows = {};
  bool has_rows() const { return row_elements > 0; }
  // If AG is another processor's, that processor alone has the gradient and the states.
  const WeightElsewhere* elsewhere = nullptr;
};

// What applies gradients (train/ implements it). apply() is called once a trained weight and step.
class WeightUpdater {
 public:
  virtual ~WeightUpdater() = default;
  // If clipping is planned: each gradient as its CG ends, and that all have come, before the
  // first apply().
  virtual void gradient_ready(const WeightUpdate& update) = 0;
  virtual void all_gradients_ready() = 0;
  virtual void apply(const WeightUpdate& update) = 0;
};

// Memory that must survive between runs: weights, statistics, optimizer states. In memory order.
// Between steps a tensor rests in the pool or in the swap file.
class PersistentTensor {
 public:
  struct Data {
    std::span<float> values;
    std::shared_ptr<std::byte> mapping;  // of the swap file; null for what rests in the pool
  };

  std::string name;
  TensorKind kind = TensorKind::kWeight;
  std::size_t elements = 0;

  PersistentTensor() = default;
  // One that rests in `values`.
  PersistentTensor(std::string name_, TensorKind kind_, std::span<float> values)
      : name(std::move(name_)), kind(kind_), elements(values.size()), resting_(values.data()) {}

  // Valid until the next step, while the Data lives. Writing to it changes the tensor.
  [[nodiscard]] Data data() const;

 private:
  friend class Network;
  float* resting_ = nullptr;
  const SwapFile* file_ = nullptr;
  std::size_t file_offset_ = 0;
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
  // Gives the memory back; the plan stays, for another allocate().
  void release();
  // Between steps: gives back what does not outlive one; the next step takes it again. Inputs are
  // lost. Nothing if tensors are swapped.
  void discard_transient();
  // Weights by name in file order; more than the network has is fine, fewer or other dims are
  // kBadData naming the weight, and leave the network as it was.
  void load(const WeightMap& weights);
  // The same, asking for one weight at a time: for weights that would not fit in memory twice. A
  // weight need only last until the next is asked for. What does not fit is kBadData when its turn
  // comes.
  using WeightReader = std::function<const NamedTensor&(const std::string& name)>;
  void load_each(const WeightReader& read);
  // The same, out of a map that loses each layer's as they are loaded: no more than a layer's are
  // in memory twice.
  void move_in(WeightMap& weights);
  // The most that is in memory while move_in() fills the network and while it runs, the map
  // included. Before allocate(), too.
  std::size_t peak_bytes() const;
  // The same of load_each() by a reader that holds one weight at a time.
  std::size_t peak_bytes_each() const;
  // Copies weights and statistics, but for what is kept packed alone, into `weights`, in file
  // order.
  void save(WeightMap& weights) const;
  // A copy of one of them. kNotFound if the network has no such weight, or keeps it only packed.
  [[nodiscard]] NamedTensor weight(const std::string& name) const;
  // The same, and the optimizer's states by their names, in memory order; each one's memory is
  // given back before the next is copied, and the rest at the end, as by release().
  using OptimizerStates = std::map<std::string, std::vector<float>>;
  void move_out(WeightMap& weights, OptimizerStates& states);

  std::size_t inputs() const { return graph_.inputs.size(); }
  const TensorInfo& input_info(std::size_t i) const;
  float* input(std::size_t i);            // overwritten by in-place steps: fill it before each step
  std::int32_t* integers(std::size_t i);  // the same of an input of integers
  const TensorInfo& output_info(std::size_t i) const;
  const float* output(std::size_t i) const;

  // Until another processor has ended what it was given: steps may return before.
  void finish();
  // Transfers of contents between processors so far; 0 if the CPU computes all.
  std::uint64_t transfers() const;
  // What swapping did so far; zeros without swap.
  SwapStatistics swap_statistics() const;
  // While set, steps add what each order took to compute (transfers not waited for), in
  // seconds, by order.
  void measure_orders(std::vector<double>* seconds) { order_seconds_ = seconds; }

  // random_key: differs from step to step, the same for a step that is run again.
  void forward(std::uint64_t random_key = 0);
  // Forward and backward. `accumulate`: gradients add to those of the micro-batches before;
  // `updater` null: the last micro-batch of the step is yet to come.
  // first_sample: where the micro-batch begins in its batch.
  void train_step(std::uint64_t random_key, WeightUpdater* updater, bool accumulate = false,
                  std::int64_t first_sample = 0);

  std::vector<PersistentTensor> persistent() const;
  // After persistent memory was written from outside (a restored checkpoint).
  void weights_changed();

 private:
  struct StepRun;
  struct Resting;

  void require_memory() const;
  void attach_processors();
  ProcessorRun& run_of(ProcessorId id) const;
  template <class Work>
  void each_other(const Work& work) const;
  void place_swap_file();
  float* data(TensorId id, int order) const;
  std::unique_ptr<StepRun> bind(std::size_t step) const;
  std::unique_ptr<StepRun> bind_conversion(std::size_t step) const;
  LayerRun layer_run(const StepRun& run, std::uint64_t key, bool accumulate,
                     std::int64_t first_sample) const;
  void run_layer(const Instruction& step, const LayerRun& run);
  void before_step(std::size_t s);
  template <class Work>
  void in_step(std::size_t s, int& order, const Work& work);
  void run_step(std::size_t s, std::uint64_t key, bool accumulate, std::int64_t first_sample);
  // Between steps the host may touch what persists.
  void rest_on_host() const;

  PersistentTensor persistent_tensor(TensorId id) const;
  Resting rest(int node) const;
  void save_node(int i, WeightMap& weights) const;
  std::size_t resting_bytes(int node, bool in_pool) const;
  void give_back(const PersistentTensor::Data& data) const;
  // lasting: what `read` gives stays while the node is loaded.
  void load_node(int node, const WeightReader& read, bool lasting);

  template <class Which>
  void guard(const Which& which, bool poison);
  void begin_order(int order);
  void end_order(int order);
  // Ends the orders from `present` on and begins those up to `next`.
  void advance(int& present, int next);
  void begin_iteration();
  void end_iteration();

  Graph graph_;
  NetworkPlan plan_;
  bool clips_ = false;
  std::filesystem::path swap_folder_;
  std::vector<std::shared_ptr<Processor>> processors_;
  std::unique_ptr<MemoryPool> memory_;
  std::unique_ptr<SwapFile> swap_file_;
  std::vector<std::size_t> file_offsets_;  // by tensor owner
  std::unique_ptr<Swapper> swapper_;
  // One for each processor besides the CPU, by id - 1; null for one that computes nothing.
  std::vector<std::unique_ptr<ProcessorRun>> others_;
  std::vector<std::unique_ptr<StepRun>> runs_;  // of the program's instructions
  std::vector<double>* order_seconds_ = nullptr;
};

}  // namespace moil
