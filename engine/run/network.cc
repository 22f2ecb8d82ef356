#include "engine/run/network.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/index.h"
#include "base/process_memory.h"
#include "engine/run/processor_run.h"
#include "engine/run/step_run.h"
#include "engine/tensor/memory_pool.h"
#include "engine/tensor/swap_file.h"
#include "engine/tensor/swapper.h"

namespace moil {

namespace {

// Below, rounding to huge pages would be a good part of the whole.
constexpr std::size_t kLeastForHugePages = 8 << 20;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

Network::Network(const ModelDescription& description, const NetworkOptions& options,
                 KernelSelector& kernels)
    : graph_(build_graph(description, options.batch)),
      plan_(plan_network(graph_, options.plan, kernels)),
      clips_(options.plan.clip_by_global_norm),
      swap_folder_(options.swap_folder),
      processors_(options.plan.processors) {}

Network::~Network() = default;

void Network::allocate() {
  others_.clear();
  swapper_.reset();
  release_idle_memory();  // planning has compiled and tried many kernels
  const std::size_t bytes = plan_.memory.total_bytes;
  memory_ = std::make_unique<MemoryPool>(
      bytes, MemoryPool::Options{.huge_pages = bytes >= kLeastForHugePages});
  if (plan_.swaps()) place_swap_file();
  attach_processors();
  runs_.clear();
  for (std::size_t s = 0; s < plan_.program.size(); ++s) {
    const Instruction& step = plan_.program[s];
    runs_.push_back(bind(s));
    if (step.processor == kCpu || step.kind != StepKind::kApplyGradient) continue;
    const auto& updates = run_of(step.processor).updates(s);
    for (std::size_t u = 0; u < updates.size(); ++u) runs_[s]->updates[u].elsewhere = &updates[u];
  }
  end_iteration();
}

void Network::attach_processors() {
  for (std::size_t p = 0; p < processors_.size(); ++p) {
    others_.emplace_back();
    if (plan_.processors[p].empty()) continue;
    others_.back() = std::make_unique<ProcessorRun>(plan_, static_cast<ProcessorId>(p + 1),
                                                    *processors_[p], *memory_);
  }
}

ProcessorRun& Network::run_of(ProcessorId id) const { return *others_[at(id - 1)]; }

template <class Work>
void Network::each_other(const Work& work) const {
  for (const auto& run : others_)
    if (run) work(*run);
}

void Network::release() {
  runs_.clear();
  others_.clear();
  swapper_.reset();
  swap_file_.reset();
  memory_.reset();
}

void Network::discard_transient() {
  require_memory();
  if (swapper_) return;
  rest_on_host();
  std::vector<std::pair<std::size_t, std::size_t>> kept;  // from, to
  const auto requests = memory_requests(plan_.pool, plan_.stays);
  for (std::size_t s = 0; s < plan_.stays.size(); ++s) {
    const std::size_t from = plan_.memory.offsets[s];
    if (plan_.pool.is_always(plan_.stays[s].owner))
      kept.emplace_back(from, from + requests[s].bytes);
  }
  std::sort(kept.begin(), kept.end());
  std::size_t done = 0;
  for (const auto& [from, to] : kept) {
    if (from > done) memory_->discard(done, from - done);
    done = std::max(done, to);
  }
  memory_->discard(done, memory_->bytes() - done);
}

void Network::place_swap_file() {
  file_offsets_.assign(plan_.pool.size(), 0);
  std::size_t bytes = 0;
  TensorId last = kNoTensor;  // an owner's stays are neighbours
  for (const Stay& stay : plan_.stays) {
    if (!stay.swapped() || stay.owner == last) continue;
    last = stay.owner;
    file_offsets_[at(stay.owner)] = bytes;
    bytes += swap_aligned(plan_.pool.spec(stay.owner).info.bytes());
  }
  swap_file_ = std::make_unique<SwapFile>(swap_folder_, bytes);
  swapper_ = std::make_unique<Swapper>(plan_.pool, plan_.stays, plan_.memory.offsets,
                                       plan_.last_order(), file_offsets_, *swap_file_, *memory_);
}

void Network::require_memory() const {
  if (!memory_) throw Error(ErrorCode::kFailedPrecondition, "the network has no memory yet");
}

float* Network::data(TensorId id, int order) const {
  require_memory();
  if (id == kNoTensor) return nullptr;
  const auto offset = plan_.offset_at(id, order);
  return offset ? memory_->as<float>(*offset) : nullptr;
}

std::unique_ptr<Network::StepRun> Network::bind_conversion(std::size_t step) const {
  const auto& operands = plan_.program[step].operands;
  auto run =
      std::make_unique<StepRun>(StepRun{{{}, {}, nullptr, [](const Operand&) { return nullptr; }}});
  const int order = static_cast<int>(step);
  run->ends = {data(operands[0].tensor, order), data(operands[1].tensor, order)};
  run->converted = plan_.pool.spec(operands[0].tensor).info.dims.elements();
  return run;
}

std::unique_ptr<Network::StepRun> Network::bind(std::size_t step) const {
  const Instruction& instruction = plan_.program[step];
  if (instruction.conversion != Conversion::kNone) return bind_conversion(step);
  const NodePlan& planned = plan_.nodes[at(instruction.node)];
  const auto find = [&](const Operand& operand) {
    return data(operand.tensor, static_cast<int>(step));
  };
  auto run = std::make_unique<StepRun>(
      StepRun{{instruction, planned, nullptr, find}, {}, {}, {}, mix(at(instruction.node) + 1)});
  run->again = instruction.again;
  for (float* saved : run->at.saved) run->saved.push_back(reinterpret_cast<std::byte*>(saved));
  for (const Operand& operand : instruction.operands)
    if (operand.access == Access::kAdd) run->adds_to |= 1U << operand.index;
  const Node& node = graph_.nodes[at(instruction.node)];
  for (std::size_t w = 0; w < planned.weights.size(); ++w) {
    if (run->at.gradients[w] == nullptr || node.weights[w].repeats) continue;
    WeightUpdate update{plan_.pool.spec(planned.weights[w]).name,
                        run->at.weights[w],
                        run->at.gradients[w],
                        run->at.states[w],
                        node.weights[w].dims.elements(),
                        node.weights[w].decays};
    const TensorInfo& gradient = plan_.pool.spec(planned.gradients[w]).info;
    run->row_gradients.emplace_back();
    if (gradient.form == TensorForm::kRows) {
      RowGradient& rows = run->row_gradients.back().emplace(run->at.gradients[w], gradient.dims[0],
                                                            gradient.dims[1]);
      update.gradient = rows.values();
      update.row_elements = rows.width();
    }
    run->updates.push_back(update);
  }
  return run;
}

LayerRun Network::layer_run(const StepRun& run, std::uint64_t key, bool accumulate,
                            std::int64_t first_sample) const {
  return {run.at.inputs,
          run.at.outputs,
          run.at.output_derivatives,
          run.at.input_derivatives,
          run.at.weights,
          run.at.gradients,
          run.saved,
          reinterpret_cast<std::byte*>(run.at.workspace),
          accumulate,
          run.adds_to,
          run.again,
          first_sample,
          mix(key ^ run.key)};
}

// Any but AG.
void Network::run_step(std::size_t s, std::uint64_t key, bool accumulate,
                       std::int64_t first_sample) {
  const Instruction& step = plan_.program[s];
  if (step.conversion != Conversion::kNone) return runs_[s]->convert(step.conversion);
  if (step.processor != kCpu) return run_of(step.processor).run(s, accumulate);
  run_layer(step, layer_run(*runs_[s], key, accumulate, first_sample));
}

void Network::rest_on_host() const {
  each_other([](ProcessorRun& run) { run.rest_on_host(); });
}

void Network::run_layer(const Instruction& step, const LayerRun& run) {
  Layer& layer = *graph_.nodes[at(step.node)].layer;
  if (step.kind == StepKind::kForward)
    layer.forward(run);
  else if (step.kind == StepKind::kComputeGradient)
    layer.compute_gradient(run);
  else
    layer.compute_derivative(run);
}

// Under AddressSanitizer, memory that no living tensor owns may not be touched.
void Network::begin_order(int order) {
  if (swapper_) swapper_->free_order(order);
  if constexpr (kPoolsArePoisoned) {
    guard([&](const Stay& s) { return s.until == order - 1; }, true);
    guard([&](const Stay& s) { return s.from == order; }, false);
  }
  each_other([&](ProcessorRun& run) { run.begin_order(order); });
  if (swapper_) swapper_->begin_order(order);
}

void Network::end_order(int order) {
  if (swapper_) swapper_->end_order(order);
}

// Poisons or unpoisons the stays for which `which` holds.
template <class Which>
void Network::guard(const Which& which, bool poison) {
  const auto requests = memory_requests(plan_.pool, plan_.stays);
  for (std::size_t s = 0; s < plan_.stays.size(); ++s) {
    if (!which(plan_.stays[s])) continue;
    if (poison)
      memory_->poison(plan_.memory.offsets[s], requests[s].bytes);
    else
      memory_->unpoison(plan_.memory.offsets[s], requests[s].bytes);
  }
}

void Network::advance(int& present, int next) {
  if (!swapper_ && !kPoolsArePoisoned) return;
  while (present < next) {
    if (present >= 0) end_order(present);
    if (++present <= plan_.last_order()) begin_order(present);
  }
}

void Network::begin_iteration() {
  if constexpr (!kPoolsArePoisoned) return;
  memory_->poison(0, memory_->bytes());
  guard([](const Stay& s) { return s.from == 0; }, false);
}

// What is written before a step, or read after it, may be touched: inputs may come to lie where
// something is still being stored.
void Network::end_iteration() {
  if (swapper_) swapper_->drain();
  each_other([](ProcessorRun& run) { run.end_iteration(); });
  if constexpr (!kPoolsArePoisoned) return;
  memory_->poison(0, memory_->bytes());
  guard([&](const Stay& s) { return s.from == 0 || s.until == plan_.last_order(); }, false);
}

// The others give to the host what the step's own processor then takes from it. One may be at work
// still on bytes that another's range begins on: of several, none is when a range changes hands.
void Network::before_step(std::size_t s) {
  const ProcessorId own = plan_.program[s].processor;
  if (processors_.size() > 1) finish();
  each_other([&](ProcessorRun& run) {
    if (run.id() != own) run.before_step(s);
  });
  if (own != kCpu) run_of(own).before_step(s);
}

// A step of the plan with what is around it: transfers, and its time if that is asked for.
template <class Work>
void Network::in_step(std::size_t s, int& order, const Work& work) {
  using Clock = std::chrono::steady_clock;
  advance(order, static_cast<int>(s));
  before_step(s);
  if (!order_seconds_) {
    work();
  } else {
    const auto start = Clock::now();
    work();
    if (const ProcessorId id = plan_.program[s].processor; id != kCpu) run_of(id).finish();
    (*order_seconds_)[s] += std::chrono::duration<double>(Clock::now() - start).count();
  }
  each_other([&](ProcessorRun& run) { run.after_step(s); });
}

void Network::forward(std::uint64_t random_key) {
  require_memory();
  if (swapper_)
    throw Error(ErrorCode::kFailedPrecondition, "a network that swaps runs whole steps alone");
  begin_iteration();
  int order = -1;
  for (std::size_t s = 0; s < plan_.program.size(); ++s) {
    if (plan_.program[s].kind == StepKind::kForward && is_first_run(plan_.program[s]))
      in_step(s, order, [&] { run_step(s, random_key, false, 0); });
  }
  end_iteration();
}

void Network::train_step(std::uint64_t random_key, WeightUpdater* updater, bool accumulate,
                         std::int64_t first_sample) {
  require_memory();
  begin_iteration();
  if (swapper_) swapper_->begin_pass(/*whole=*/updater != nullptr);
  int order = -1;
  bool announced = !clips_;
  for (std::size_t s = 0; s < plan_.program.size(); ++s) {
    in_step(s, order, [&] {
      const StepKind kind = plan_.program[s].kind;
      if (kind != StepKind::kApplyGradient) {
        run_step(s, random_key, accumulate, first_sample);
        each_other([&](ProcessorRun& run) { run.read_after(s); });
        if (clips_ && updater && kind == StepKind::kComputeGradient)
          for (const WeightUpdate& update : runs_[s]->current_updates())
            updater->gradient_ready(update);
      } else if (updater != nullptr) {
        if (!announced) updater->all_gradients_ready();
        announced = true;
        for (const WeightUpdate& update : runs_[s]->current_updates()) updater->apply(update);
      }
    });
  }
  advance(order, plan_.last_order() + 1);
  end_iteration();
}

void Network::finish() {
  each_other([](ProcessorRun& run) { run.finish(); });
}

std::uint64_t Network::transfers() const {
  std::uint64_t sum = 0;
  each_other([&](const ProcessorRun& run) { sum += run.transfers(); });
  return sum;
}

SwapStatistics Network::swap_statistics() const {
  return swapper_ ? swapper_->statistics() : SwapStatistics{};
}

const TensorInfo& Network::input_info(std::size_t i) const {
  return graph_.values[at(graph_.inputs.at(i))].info;
}
const TensorInfo& Network::output_info(std::size_t i) const {
  return graph_.values[at(graph_.outputs.at(i))].info;
}
float* Network::input(std::size_t i) { return data(plan_.values[at(graph_.inputs.at(i))], 0); }
std::int32_t* Network::integers(std::size_t i) { return reinterpret_cast<std::int32_t*>(input(i)); }
const float* Network::output(std::size_t i) const {
  return data(plan_.values[at(graph_.outputs.at(i))], plan_.last_order());
}

}  // namespace moil
