// What training a model takes, promised and measured, in a process of its own:
//   memory_bench --model FILE --batch N [--trainable-layers N] [--iterations N] [--json]
//
// Plain SGD on random samples, the network alone: no data pipeline. Kernels are chosen in a child
// process, as a night finds them recorded: trying them out takes memory that training does not.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/process_memory.h"
#include "engine/device/kernel_selector.h"
#include "engine/device/scratch.h"
#include "engine/graph/freeze.h"
#include "engine/graph/network.h"
#include "engine/graph/preparation.h"
#include "engine/io/model_json.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/parallel.h"
#include "engine/train/optimizer.h"

namespace moil {
namespace {

struct Options {
  std::string model;
  std::string loss = "softmax_cross_entropy";
  std::int64_t batch = 64;
  std::optional<int> trainable_layers;
  int iterations = 5;
  int threads = 0;
  std::size_t budget_bytes = 0;
  bool json = false;
};

// The libraries' own buffers: one small product, one small convolution.
void warm_libraries(int threads) {
  const Scratch a(64 * 64 * sizeof(float)), b(64 * 64 * sizeof(float)), c(64 * 64 * sizeof(float));
  sgemm(Transpose::kNo, Transpose::kNo, 64, 64, 64, 1.0F, a.floats(), 64, b.floats(), 64, 0.0F,
        c.floats(), 64);
  KernelSelector::Options options;
  options.threads = threads;
  options.measure = false;
  ConvShape shape;
  shape.batch = 2, shape.in_channels = 16, shape.in_h = shape.in_w = 8, shape.out_channels = 16;
  shape.kernel_h = shape.kernel_w = 3;
  shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = 1;
  (void)KernelSelector(options).conv(shape, ConvStep::kForward);
}

class Sgd final : public WeightUpdater {
 public:
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& u) override {
    optimizer_->apply(
        {u.weight, u.gradient, u.states, u.elements, u.decays, /*learning_rate=*/1e-4, 1.0, 1});
  }

 private:
  std::unique_ptr<Optimizer> optimizer_ = make_optimizer({});
};

NetworkOptions network_options(const ModelDescription& model, const Options& options,
                               const std::set<std::string>& layers) {
  NetworkOptions o{.batch = options.batch, .plan = {}};
  o.plan.training = true;
  o.plan.trainable = trainable_weights(model, &layers);
  o.plan.memory_budget_bytes = options.budget_bytes;
  return o;
}

std::set<std::string> trained_layers(const ModelDescription& model, const Options& options) {
  return freeze_all_but_last(model, options.trainable_layers).trainable_layers;
}

KernelSelector::Options selector_options(const Options& options) {
  KernelSelector::Options o;
  o.threads = options.threads;
  return o;
}

// Plans in a child process and returns what its selector chose.
KernelChoices choose_kernels(const Options& options) {
  int ends[2];
  if (::pipe(ends) != 0) throw system_error("cannot make a pipe", errno);
  const pid_t child = ::fork();
  if (child < 0) throw system_error("cannot fork", errno);
  if (child == 0) {
    int code = 1;
    try {
      const ModelDescription model = complete_model(read_model(options.model));
      const auto layers = trained_layers(model, options);
      KernelSelector kernels(selector_options(options));
      const Network network(prepare_training(model, options.loss, layers),
                            network_options(model, options, layers), kernels);
      const std::string text = nlohmann::json(kernels.choices()).dump();
      code =
          ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "memory_bench: %s\n", e.what());
    }
    ::_exit(code);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) throw Error(ErrorCode::kInternal, "choosing the kernels failed");
  return nlohmann::json::parse(text).get<KernelChoices>();
}

// Samples of small values, and one-hot targets.
void fill(Network& network, std::uint32_t seed) {
  std::uint32_t state = seed * 2654435761U + 12345U;
  const auto next = [&state] { return (state = state * 1664525U + 1013904223U) >> 16; };
  const auto samples = static_cast<std::size_t>(network.input_info(0).dims.elements());
  float* input = network.input(0);
  for (std::size_t i = 0; i < samples; ++i) input[i] = static_cast<float>(next()) / 32768.0F - 1.0F;
  const Dims& dims = network.input_info(1).dims;
  const auto targets = static_cast<std::size_t>(dims.elements());
  float* target = network.input(1);
  std::fill(target, target + targets, 0.0F);
  const auto row = static_cast<std::size_t>(dims.elements_per_sample());
  for (std::size_t at = 0; at < targets; at += row) target[at + next() % row] = 1.0F;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

nlohmann::json run(const Options& options) {
  const KernelChoices choices = choose_kernels(options);
  warm_libraries(options.threads);
  release_idle_memory();
  const std::size_t baseline = resident_memory().bytes;

  const ModelDescription model = complete_model(read_model(options.model));
  const auto layers = trained_layers(model, options);
  KernelSelector kernels(selector_options(options), choices);
  Network network(prepare_training(model, options.loss, layers),
                  network_options(model, options, layers), kernels);
  network.allocate();
  {
    WeightMap weights = initial_weights(network.graph(), 1);
    network.load(weights);
  }
  Sgd sgd;
  std::vector<double> times;
  for (int i = 0; i <= options.iterations; ++i) {
    fill(network, static_cast<std::uint32_t>(i));
    const auto start = std::chrono::steady_clock::now();
    network.train_step(static_cast<std::uint64_t>(i), &sgd);
    if (i > 0) times.push_back(milliseconds_since(start));  // the first warms up
  }
  std::sort(times.begin(), times.end());
  const NetworkPlan& plan = network.plan();
  return {{"model", model.name},
          {"batch", options.batch},
          {"threads", thread_count()},
          {"lower_bound_bytes", plan.lower_bound_bytes},
          {"sorting_bytes",
           make_sorting_planner()->plan(memory_requests(plan.pool, plan.stays)).total_bytes},
          {"planned_bytes", plan.memory.total_bytes},
          {"baseline_rss_bytes", baseline},
          {"peak_rss_bytes", resident_memory().peak_bytes},
          {"ms_per_iteration", times.empty() ? 0.0 : times[times.size() / 2]},
          {"loss", network.output(0)[0]}};
}

}  // namespace
}  // namespace moil

int main(int argc, char** argv) {
  CLI::App app("Memory and time of training a model, planned and measured");
  moil::Options options;
  int trainable = -1;
  app.add_option("--model", options.model, "model description (JSON)")->required();
  app.add_option("--batch", options.batch, "samples a step")->check(CLI::PositiveNumber);
  app.add_option("--loss", options.loss, "loss layer");
  app.add_option("--trainable-layers", trainable, "train the last N weight units; default: all");
  app.add_option("--iterations", options.iterations, "timed steps")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "0: as many as the machine has");
  app.add_option("--budget", options.budget_bytes,
                 "bytes that the plan may take for faster kernels");
  app.add_flag("--json", options.json, "print one JSON object");
  CLI11_PARSE(app, argc, argv);
  if (trainable >= 0) options.trainable_layers = trainable;
  try {
    const nlohmann::json result = moil::run(options);
    std::printf("%s\n", result.dump(options.json ? -1 : 2).c_str());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "memory_bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
