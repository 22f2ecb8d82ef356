// How long the tensor selector takes, and what steps of its selections take of full steps.
//
//   elastic_bench --model FOLDER [--trainable-layers N|all] [--batch 32] [--rounds 9]
//                 [--freeze-batch-norms] [--threads 2] [--resolution 100000] [--json]
//
// Profiles the training of a model's last layers, then trains what the selector chooses for random
// importance. A machine's speed drifts meanwhile: each selection's steps take turns with steps of
// full training, and medians count. "rho_shares" are whole steps, as parts of full ones, by rho.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "base/command_line/command_line.h"
#include "base/json/json.h"
#include "base/median.h"
#include "base/seconds.h"
#include "base/version.h"
#include "daemon/models/model_folder.h"
#include "daemon/night/maps/head_slice.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/elastic/elastic_trainer.h"
#include "engine/elastic/timing_profiler.h"
#include "engine/kernels/parallel.h"
#include "engine/train/idle_step.h"

namespace moil::night {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model, trainable_layers = "all";
  std::int64_t batch = 32;
  int threads = 2, rounds = 9, resolution = 100'000;
  bool freeze_batch_norms = false;
};

// Steps that count of a visit to a selection, beside as many of full training.
constexpr int kVisitRuns = 3;
constexpr double kRhos[] = {0.35, 0.5, 0.7, 1.0};

struct Head {
  ModelDescription model;
  std::set<std::string> layers;
  WeightMap weights;
};

Head head_of(const Options& options) {
  const ModelBundle bundle = read_model_folder(options.model);
  std::optional<int> n;
  if (options.trainable_layers != "all") n = std::stoi(options.trainable_layers);
  Freeze freeze = freeze_all_but_last(bundle.description, n);
  if (options.freeze_batch_norms) freeze_batch_norms(bundle.description, freeze);
  return {head_slice(bundle.description, freeze), freeze.trainable_layers, bundle.weights};
}

// Steps that train a selection, timed.
class Steps {
 public:
  Steps(TrainingPlanInput input, const TrainerConfig& config, const std::set<std::string>& trained,
        const WeightMap& weights, KernelSelector& kernels)
      : network_(input.model, with(input.options, trained), kernels), idle_(config.optimizer) {
    network_.allocate();
    network_.load(weights);
  }

  // Seconds, in the median of some runs. In a training a step comes after another of the same
  // network: the first does not count.
  double measured() {
    (void)run();
    std::vector<double> seconds;
    for (int i = 0; i < kVisitRuns; ++i) seconds.push_back(run());
    return median(seconds);
  }

 private:
  static NetworkOptions with(NetworkOptions options, const std::set<std::string>& trained) {
    options.plan.trainable = trained;
    return options;
  }

  double run() {
    fill_inputs_with_zeros(network_);
    const auto start = Clock::now();
    network_.train_step(/*random_key=*/1, &idle_);
    return seconds_since(start);
  }

  Network network_;
  IdleUpdater idle_;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), head_(head_of(options)), random_(1) {
    config_.optimizer.momentum = 0.9;
    config_.batch = options.batch;
    config_.memory_budget_bytes = kNoMemoryBudget;  // as a job that names none
    input_.emplace(training_plan_input(head_.model, &head_.layers, config_));
    const auto start = Clock::now();
    profile_ = measure_timing(head_.model, &head_.layers, config_, head_.weights, kernels_);
    profile_seconds_ = seconds_since(start);
  }

  Json run() {
    const auto& all = input_->options.plan.trainable;
    Steps full(*input_, config_, all, head_.weights, kernels_);
    return {{"tensors", all.size()},
            {"layers", profile_.layers.size()},
            {"batch", config_.batch},
            {"forward_share", profile_.forward / profile_.step},
            {"smallest_rho", smallest_speedup_ratio(profile_)},
            {"step_ms", 1000 * profile_.step},
            {"profile_seconds", profile_seconds_},
            {"selector_ms", selector_milliseconds()},
            {"rho_shares", rho_shares(full)},
            {"resolution", options_.resolution}};
  }

 private:
  ElasticProblem random_problem() {
    ElasticProblem problem = elastic_problem(profile_);
    std::exponential_distribution<double> importance;
    for (ElasticEntry& entry : problem.entries) {
      if (entry.selectable) entry.importance = importance(random_);
    }
    return problem;
  }

  std::set<std::string> selected(const ElasticProblem& problem, double rho) const {
    const double seconds = std::max(0.0, rho * profile_.step - profile_.fixed_seconds());
    return problem.named(
        select_tensors(problem.entries, seconds, {.resolution = options_.resolution}).entries);
  }

  std::vector<double> selector_milliseconds() {
    std::vector<double> times;
    for (const double rho : kRhos) {
      const ElasticProblem problem = random_problem();
      const auto start = Clock::now();
      (void)selected(problem, rho);
      times.push_back(1000 * seconds_since(start));
    }
    return times;
  }

  // Medians of three selections' steps, each beside as many of full training.
  Json rho_shares(Steps& full) {
    Json shares = Json::object();
    for (const double rho : kRhos) {
      std::vector<double> parts;
      for (int i = 0; i < 3; ++i) {
        const std::set<std::string> selection = selected(random_problem(), rho);
        if (selection.empty()) continue;  // below what anything takes
        Steps steps(*input_, config_, selection, head_.weights, kernels_);
        for (int round = 0; round < options_.rounds; ++round) {
          const double seconds = steps.measured();
          parts.push_back(seconds / full.measured());
        }
      }
      char name[16];
      std::snprintf(name, sizeof name, "%g", rho);
      shares[name] = parts.empty() ? Json(nullptr) : Json(median(parts));
    }
    return shares;
  }

  const Options options_;
  const Head head_;
  std::mt19937 random_;
  TrainerConfig config_;
  KernelSelector kernels_;
  std::optional<TrainingPlanInput> input_;
  TimingProfile profile_;
  double profile_seconds_ = 0;
};

void print(const Json& result) {
  std::printf("%d tensors, %.1f ms a step of all, forward %.1f %% of it\n",
              result["tensors"].get<int>(), result["step_ms"].get<double>(),
              100 * result["forward_share"].get<double>());
  for (const auto& [rho, share] : result["rho_shares"].items()) {
    if (!share.is_null())
      std::printf("rho %s: whole steps take %.1f %% of full ones\n", rho.c_str(),
                  100 * share.get<double>());
  }
  std::printf("selector: %.1f ms in the median at %d parts\n",
              median(result["selector_ms"].get<std::vector<double>>()),
              result["resolution"].get<int>());
}

}  // namespace
}  // namespace moil::night

int main(int argc, char** argv) {
  moil::night::Options options;
  bool json = false;
  moil::cli::Program app("The selector's time, and what steps of its selections take",
                         "elastic_bench", moil::kVersion);
  app.add_option("--model", options.model, "model folder").required();
  app.add_option("--trainable-layers", options.trainable_layers, "n of LF(n), or all");
  app.add_option("--batch", options.batch).check(moil::cli::positive());
  app.add_option("--threads", options.threads).check(moil::cli::positive());
  app.add_option("--rounds", options.rounds, "visits of each").check(moil::cli::positive());
  app.add_option("--resolution", options.resolution).check(moil::cli::positive());
  app.add_flag("--freeze-batch-norms", options.freeze_batch_norms);
  app.add_flag("--json", json, "print one JSON object");
  if (const auto exit = app.parse(argc, argv)) return *exit;
  try {
    moil::set_thread_count(options.threads);
    const auto result = moil::night::Bench(options).run();
    if (json)
      std::printf("%s\n", result.dump().c_str());
    else
      moil::night::print(result);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "elastic_bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
