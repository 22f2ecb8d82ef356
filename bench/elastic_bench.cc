// How well a timing profile predicts, and how long the tensor selector takes.
//
//   elastic_bench --model FOLDER [--trainable-layers N|all] [--batch 32] [--selections 50]
//                 [--freeze-batch-norms] [--threads 2] [--rounds 9]
//                 [--resolution 100000] [--json]
//
// Profiles the training of a model's last layers, then trains what the selector chooses for random
// importance at a random rho, and holds the backward pass's measured seconds against the predicted
// ones. A machine's speed drifts meanwhile, and not for all layers alike: each selection's steps
// take turns with steps of full training, and both are told as parts of it; every selection is
// visited once a round, and so are the trainings that a profile is made of; medians count.
// "first_profile" errors are those of the profile from the beginning alone, "parts" ones those of
// the profile's parts merely added up, "raw" ones those of seconds as they were. "measured_spread"
// is how far a selection's own measurements are apart, of every other round and of the others.
// Where that, or the profile's own, is much, there are up to thrice as many rounds: what was
// measured decides, and no error. "measured_rounds" is how many there were. "rho_shares" are whole
// steps of what the selector chooses for random importance, as parts of full steps, by rho.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "base/median.h"
#include "base/seconds.h"
#include "daemon/night/head_slice.h"
#include "daemon/night/model_folder.h"
#include "engine/device/kernel_selector.h"
#include "engine/elastic/backward_time.h"
#include "engine/elastic/elastic_trainer.h"
#include "engine/elastic/predicted_step.h"
#include "engine/elastic/timing_profiler.h"
#include "engine/kernels/parallel.h"
#include "engine/train/idle_step.h"

namespace moil::night {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

struct Options {
  std::string model, trainable_layers = "all";
  std::int64_t batch = 32;
  int selections = 50, threads = 2, rounds = 9, resolution = 100'000;
  bool freeze_batch_norms = false;
};

// Steps of each training of the profile, a round.
constexpr int kRoundRuns = 3;
// Steps that count of a visit to a selection, beside as many of full training.
constexpr int kVisitRuns = 3;
constexpr double kRhos[] = {0.35, 0.5, 0.7, 1.0};

// Half of what a prediction may be off by; and of a full backward pass, where a selection's takes
// some microseconds.
constexpr double kSteadySpread = 0.025, kSteadyShare = 0.0005;
constexpr int kMostRounds = 3;  // times as many as were asked for

// Parts of full backward passes.
bool is_steady(const std::vector<double>& shares) {
  const double spread = median_spread(shares);
  return spread <= kSteadySpread || spread * median(shares) <= kSteadyShare;
}

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

  // Seconds of a step, and of its backward pass.
  struct Seconds {
    double backward = 0, whole = 0;
  };

  // Medians of some runs. In a training a step comes after another of the same network: the first
  // does not count.
  Seconds measured() {
    (void)run();
    std::vector<double> backward, whole;
    for (int i = 0; i < kVisitRuns; ++i) {
      const Seconds seconds = run();
      backward.push_back(seconds.backward);
      whole.push_back(seconds.whole);
    }
    return {median(backward), median(whole)};
  }

 private:
  static NetworkOptions with(NetworkOptions options, const std::set<std::string>& trained) {
    options.plan.trainable = trained;
    return options;
  }

  Seconds run() {
    std::vector<double> orders(static_cast<std::size_t>(network_.plan().last_order) + 1, 0);
    network_.measure_orders(&orders);
    fill_inputs_with_zeros(network_);
    const auto start = Clock::now();
    network_.train_step(/*random_key=*/1, &idle_);
    Seconds seconds;
    seconds.backward = seconds.whole = seconds_since(start);
    for (const PlannedStep& step : network_.plan().steps) {
      if (step.kind == StepKind::kForward)
        seconds.backward -= std::exchange(orders[static_cast<std::size_t>(step.order)], 0);
    }
    return seconds;
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
    graph_ = build_graph(input_->model, config_.batch);
    const auto start = Clock::now();
    TimingProfiler first = profiler();
    measure_timing(first, kProfilingRuns, kProfilingSeconds);
    profile_ = first.profile();
    profile_seconds_ = seconds_since(start);
  }

  Json run() {
    const auto& all = input_->options.plan.trainable;
    Steps full(*input_, config_, all, head_.weights, kernels_);
    Json result = predictions(full);
    result.update({{"tensors", all.size()},
                   {"layers", profile_.layers.size()},
                   {"batch", config_.batch},
                   {"forward_share", profile_.forward / profile_.step},
                   {"smallest_rho", smallest_speedup_ratio(profile_)},
                   {"step_ms", 1000 * profile_.step},
                   {"profile_seconds", profile_seconds_},
                   {"selector_ms", selector_milliseconds()},
                   {"rho_shares", rho_shares(full)},
                   {"resolution", options_.resolution}});
    return result;
  }

 private:
  TimingProfiler profiler() {
    return {head_.model, &head_.layers, config_, head_.weights, kernels_};
  }

  // A random selection, and what its visits measured.
  struct Visited {
    std::set<std::string> selection;
    std::vector<double> shares;   // backward passes, as parts of the full one beside each
    std::vector<double> seconds;  // that they took
  };

  std::vector<Visited> visited(Steps& full, TimingProfiler& meanwhile) {
    std::vector<Visited> all(static_cast<std::size_t>(options_.selections));
    for (Visited& v : all) v.selection = random_selection();
    for (int round = 0; round < kMostRounds * options_.rounds; ++round) {
      if (round >= options_.rounds && std::ranges::all_of(meanwhile.backward_shares(), is_steady) &&
          std::ranges::all_of(all, is_steady, &Visited::shares))
        break;
      meanwhile.measure_round(kRoundRuns);
      for (Visited& v : all) visit(v, full);
    }
    return all;
  }

  void visit(Visited& v, Steps& full) {
    Steps steps(*input_, config_, v.selection, head_.weights, kernels_);
    const double seconds = steps.measured().backward;
    v.shares.push_back(seconds / full.measured().backward);
    v.seconds.push_back(seconds);
  }

  // Of backward passes.
  struct Predicted {
    double share = 0;  // of the full one
    double seconds = 0;
  };
  Predicted predicted(const TimingProfile& profile, const std::set<std::string>& selection) const {
    const auto backward = [&](const std::set<std::string>& names) {
      return predicted_step(profile, graph_, names) - profile.forward;
    };
    const double seconds = backward(selection);
    return {seconds / backward(input_->options.plan.trainable), seconds};
  }

  Json predictions(Steps& full) {
    TimingProfiler meanwhile = profiler();
    const std::vector<Visited> all = visited(full, meanwhile);
    const TimingProfile profile = meanwhile.profile();
    Json errors = Json::array(), first = Json::array(), raw = Json::array(), shares = Json::array();
    Json spreads = Json::array(), parts = Json::array();
    TimingProfile without_backward = profile;
    without_backward.backward.clear();
    without_backward.kernelless_backward.clear();
    for (const Visited& v : all) {
      const Predicted p = predicted(profile, v.selection);
      const double share = median(v.shares);
      shares.push_back(share);
      spreads.push_back(100 * median_spread(v.shares));
      errors.push_back(100 * (p.share / share - 1));
      parts.push_back(100 * (predicted(without_backward, v.selection).share / share - 1));
      first.push_back(100 * (predicted(profile_, v.selection).share / share - 1));
      raw.push_back(100 * (p.seconds / median(v.seconds) - 1));
    }
    return {{"profile_error_percent", errors},
            {"first_profile_error_percent", first},
            {"parts_error_percent", parts},
            {"raw_error_percent", raw},
            {"measured_spread_percent", spreads},
            {"backward_shares", shares},
            {"measured_rounds", all.front().shares.size()}};
  }

  std::set<std::string> random_selection() {
    std::uniform_real_distribution<double> rho(smallest_speedup_ratio(profile_), 1);
    std::set<std::string> selection;
    while (selection.empty()) selection = selected(random_problem(), rho(random_));
    return selection;
  }

  ElasticProblem random_problem() {
    ElasticProblem problem = elastic_problem(profile_);
    std::exponential_distribution<double> importance;
    for (ElasticEntry& entry : problem.entries) {
      if (entry.selectable) entry.importance = importance(random_);
    }
    return problem;
  }

  std::set<std::string> selected(const ElasticProblem& problem, double rho) const {
    const double seconds =
        std::max(0.0, BackwardTime(profile_).parts(rho * profile_.step - profile_.fixed_seconds()));
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
          const double whole = steps.measured().whole;
          parts.push_back(whole / full.measured().whole);
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
  Graph graph_;
  TimingProfile profile_;
  double profile_seconds_ = 0;
};

void print(const Json& result) {
  std::vector<double> errors;
  for (const double e : result["profile_error_percent"]) errors.push_back(std::abs(e));
  const auto within = std::count_if(errors.begin(), errors.end(), [](double e) { return e <= 5; });
  std::printf("%d tensors, %.1f ms a step of all, forward %.1f %% of it\n",
              result["tensors"].get<int>(), result["step_ms"].get<double>(),
              100 * result["forward_share"].get<double>());
  std::printf(
      "backward pass of %zu random selections: error %.1f %% in the median, %.1f %% at most, "
      "%td within 5 %%\n",
      errors.size(), median(errors), *std::max_element(errors.begin(), errors.end()), within);
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
  CLI::App app("Timing profiles against measured steps, and the selector's time");
  app.add_option("--model", options.model, "model folder")->required();
  app.add_option("--trainable-layers", options.trainable_layers, "n of LF(n), or all");
  app.add_option("--batch", options.batch)->check(CLI::PositiveNumber);
  app.add_option("--selections", options.selections)->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "visits of each")->check(CLI::PositiveNumber);
  app.add_option("--resolution", options.resolution)->check(CLI::PositiveNumber);
  app.add_flag("--freeze-batch-norms", options.freeze_batch_norms);
  app.add_flag("--json", json, "print one JSON object");
  CLI11_PARSE(app, argc, argv);
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
