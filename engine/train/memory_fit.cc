#include "engine/train/memory_fit.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/median.h"
#include "engine/plan/again_choice.h"
#include "engine/train/idle_step.h"
#include "engine/train/step_timer.h"

namespace moil {
namespace {

class Fitter {
 public:
  Fitter(const ModelDescription& model, const std::set<std::string>* layers,
         const TrainerConfig& config, const FitOptions& options, KernelSelector& kernels)
      : model_(model), layers_(layers), config_(config), options_(options), kernels_(kernels) {}

  std::vector<MemoryFit> run() {
    std::vector<MemoryFit> fits;
    if (auto fit = without_more_swap()) fits.push_back(*fit);
    if (config_.swap.mode == SwapMode::kOff)
      if (auto fit = with_again_in(fits)) fits.push_back(*fit);
    if (fits.empty() && options_.may_swap && config_.swap.mode == SwapMode::kOff)
      if (auto fit = with_swap()) fits.push_back(*fit);
    if (fits.empty()) refuse();
    return fits;
  }

  // The same configuration with other outputs made again. forward_seconds: of F, by node; empty: by
  // a forecast.
  std::optional<MemoryFit> with_again(TrainerConfig config,
                                      std::vector<double> forward_seconds = {}) {
    const TrainingPlanInput input = training_plan_input(model_, layers_, config);
    const Graph graph = build_graph(input.model, input.options.batch);
    if (forward_seconds.empty()) forward_seconds = forecast_forward_seconds(graph);
    const std::size_t prefetch = prefetch_bytes(graph);
    if (prefetch >= options_.budget_bytes) return std::nullopt;
    const auto layers = choose_again(graph, input.options.plan, forward_seconds,
                                     options_.budget_bytes - prefetch, kernels_);
    if (!layers) return std::nullopt;
    config.again = *layers;
    const MemoryFit fit = plan_training(model_, layers_, config, kernels_);
    if (!fits(fit)) return std::nullopt;
    return accept(fit);
  }

  std::optional<TrainerConfig> refit() {
    const std::optional<MemoryFit> fit = swapped(config_, config_.swap.budget_bytes);
    if (!fit || !fits(*fit)) return std::nullopt;
    return fit->config;
  }

 private:
  bool fits(const MemoryFit& fit) {
    if (smallest_ == 0 || fit.planned_bytes < smallest_) smallest_ = fit.planned_bytes;
    return fit.planned_bytes <= options_.budget_bytes;
  }

  // By a forecast, in the largest micro-batch that fits so; larger than what fits without.
  std::optional<MemoryFit> with_again_in(const std::vector<MemoryFit>& without) {
    for (const std::int64_t micro : micro_batches()) {
      if (!without.empty() && micro <= micro_batch_of(without[0].config)) break;
      if (mixes_samples_ && config_.micro_batch == 0 && micro < config_.batch) break;
      TrainerConfig config = config_;
      config.micro_batch = micro;
      if (auto fit = with_again(config)) return fit;
    }
    return std::nullopt;
  }

  // Micro-batches to try, the largest first.
  std::vector<std::int64_t> micro_batches() const {
    if (config_.micro_batch > 0) return {config_.micro_batch};
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = config_.batch; size >= 1; --size) {
      if (config_.batch % size == 0) sizes.push_back(size);
    }
    return sizes;
  }

  std::optional<MemoryFit> without_more_swap() {
    for (const std::int64_t micro : micro_batches()) {
      TrainerConfig config = config_;
      config.micro_batch = micro;
      std::optional<MemoryFit> fit = plan(config);
      if (!fit) break;
      if (fits(*fit)) return accept(*fit);
    }
    return std::nullopt;
  }

  // Takes the micro-batch that writes least of those that fit with swap; if equal, the larger one.
  std::optional<MemoryFit> with_swap() {
    std::optional<MemoryFit> best;
    for (const std::int64_t micro : micro_batches()) {
      TrainerConfig config = config_;
      config.micro_batch = micro;
      config.swap.mode = SwapMode::kProactive;
      std::optional<MemoryFit> fit = swapped(config, options_.budget_bytes);
      if (!fit) break;
      if (!fits(*fit)) continue;
      if (!best || fit->traffic.written_bytes < best->traffic.written_bytes) best = fit;
    }
    if (!best) return std::nullopt;
    check_swap_writes(best->write_bytes(options_.steps), options_.max_write_bytes);
    return accept(*best);
  }

  // The swap's own budget is lowered until the planner's layout fits, too; in ever larger steps,
  // since a layout does not shrink by what its live bytes do.
  std::optional<MemoryFit> swapped(TrainerConfig config, std::size_t budget) {
    std::optional<MemoryFit> fit;
    for (int attempt = 0; attempt < 8; ++attempt) {
      config.swap.budget_bytes = std::max<std::size_t>(1, budget);
      fit = plan(config);
      if (!fit || fit->planned_bytes <= options_.budget_bytes) return fit;
      const std::size_t excess = (fit->planned_bytes - options_.budget_bytes) << attempt;
      if (excess >= budget) return fit;
      budget -= excess;
    }
    return fit;
  }

  // Nothing if the model cannot be cut into such micro-batches; the first plan shows it.
  std::optional<MemoryFit> plan(const TrainerConfig& config) {
    const bool asked_for = config_.micro_batch > 0;  // then the trainer says what is wrong
    if (!asked_for && config.micro_batch < config.batch && mixes_samples_) return std::nullopt;
    MemoryFit fit = plan_training(model_, layers_, config, kernels_);
    mixes_samples_ = fit.mixes_samples;
    return fit;
  }

  // Room that is left makes kernels faster.
  MemoryFit accept(MemoryFit fit) const {
    fit.config.memory_budget_bytes = options_.budget_bytes - fit.prefetch_bytes;
    return fit;
  }

  [[noreturn]] void refuse() {
    std::string text = "training needs at least " + std::to_string(smallest_) +
                       " bytes of memory; " + std::to_string(options_.budget_bytes) +
                       " are allowed";
    if (mixes_samples_)
      text += "; its batch norms keep the batch whole (freeze them, or train fewer layers)";
    else
      text += "; a smaller batch or fewer trainable layers need less";
    if (!options_.may_swap) text += "; swap would need less, too";
    throw Error(ErrorCode::kInvalidArgument, text);
  }

  const ModelDescription& model_;
  const std::set<std::string>* layers_;
  const TrainerConfig& config_;
  const FitOptions& options_;
  KernelSelector& kernels_;
  std::size_t smallest_ = 0;
  bool mixes_samples_ = false;
};

}  // namespace

MemoryFit plan_training(const ModelDescription& model, const std::set<std::string>* layers,
                        const TrainerConfig& config, KernelSelector& kernels) {
  const TrainingPlanInput input = training_plan_input(model, layers, config);
  const Graph graph = build_graph(input.model, input.options.batch);
  const NetworkPlan lean = plan_lean(graph, input.options.plan, kernels);
  MemoryFit fit;
  fit.config = config;
  fit.prefetch_bytes = prefetch_bytes(graph);
  fit.planned_bytes = lean.memory.total_bytes + fit.prefetch_bytes;
  fit.mixes_samples = std::any_of(lean.nodes.begin(), lean.nodes.end(),
                                  [](const NodePlan& n) { return n.layer.mixes_samples; });
  fit.traffic = lean.traffic();
  return fit;
}

std::vector<MemoryFit> fits_of_training(const ModelDescription& model,
                                        const std::set<std::string>* layers,
                                        const TrainerConfig& config, const FitOptions& options,
                                        KernelSelector& kernels) {
  return Fitter(model, layers, config, options, kernels).run();
}

MemoryFit fit_training(const ModelDescription& model, const std::set<std::string>* layers,
                       const TrainerConfig& config, const FitOptions& options,
                       KernelSelector& kernels) {
  return fits_of_training(model, layers, config, options, kernels).front();
}

namespace {

struct TimedSteps {
  double seconds_of_sample = 0;
  std::vector<double> forward_seconds;  // by node
};

TimedSteps time_steps(const ModelDescription& model, const std::set<std::string>* layers,
                      const TrainerConfig& config, KernelSelector& kernels) {
  constexpr int kSteps = 3;  // and one that warms up
  const TrainingPlanInput input = training_plan_input(model, layers, config);
  Network network(input.model, input.options, kernels);
  network.allocate();
  IdleUpdater idle(config.optimizer);
  StepTimer timer(network);
  std::vector<double> seconds;
  for (int step = 0; step <= kSteps; ++step) {
    seconds.push_back(timer.run(idle));
    if (step == 0) timer.forget();
  }
  seconds.erase(seconds.begin());
  return {median(seconds) / static_cast<double>(input.options.batch), timer.forward_seconds()};
}

}  // namespace

TrainerConfig fastest_of(const ModelDescription& model, const std::set<std::string>* layers,
                         const std::vector<MemoryFit>& fits, std::size_t budget_bytes,
                         KernelSelector& kernels) {
  const FitOptions options{.budget_bytes = budget_bytes};  // a fitter refers to it
  TrainerConfig best;
  double least = std::numeric_limits<double>::infinity();
  for (const MemoryFit& fit : fits) {
    TrainerConfig config = fit.config;
    TimedSteps timed = time_steps(model, layers, config, kernels);
    if (!config.again.empty()) {
      Fitter fitter(model, layers, config, options, kernels);
      const auto better = fitter.with_again(config, timed.forward_seconds);
      if (better && better->config.again != config.again) {
        config = better->config;
        if (fits.size() > 1) timed = time_steps(model, layers, config, kernels);
      }
    }
    if (timed.seconds_of_sample < least) least = timed.seconds_of_sample, best = config;
  }
  return best;
}

std::optional<TrainerConfig> refit_swap(const ModelDescription& model,
                                        const std::set<std::string>* layers,
                                        const TrainerConfig& config, std::size_t budget_bytes,
                                        KernelSelector& kernels) {
  return Fitter(model, layers, config, {.budget_bytes = budget_bytes}, kernels).refit();
}

void check_swap_writes(std::uint64_t bytes, std::optional<std::uint64_t> max_write_bytes) {
  if (!max_write_bytes || bytes <= *max_write_bytes) return;
  throw Error(ErrorCode::kInvalidArgument,
              "training would write " + std::to_string(bytes) +
                  " bytes to its swap file; swap.max_write_bytes allows " +
                  std::to_string(*max_write_bytes) +
                  ": allow more, or more memory, or train fewer layers");
}

}  // namespace moil
