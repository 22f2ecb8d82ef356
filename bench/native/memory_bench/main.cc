// What training a model takes, promised and measured, in a process of its own:
//   memory_bench --model FILE --batch N [--trainable-layers N] [--swap MODE] [--json]
//
// Plain SGD on random samples or on those of a file, the network alone: no data pipeline. What is
// chosen by measurement is chosen in a child process, as a night finds it recorded: trying things
// out takes memory that training does not. The peak is this process's VmHWM, from its start to its
// end.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "base/version.h"
#include "bench/native/memory_bench/child.h"
#include "bench/native/memory_bench/training.h"
#include "engine/io/model_json.h"
#include "engine/kernels/parallel.h"
#include "engine/tensor/swapper.h"

namespace moil {
namespace {

using nlohmann::json;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// The median milliseconds of `iterations` steps after one that warms up, and what they swapped.
json train(Network& network, const BenchOptions& options) {
  const int iterations = options.iterations;
  const auto sgd = make_sgd(options);
  std::vector<double> times;
  SwapStatistics before;
  for (int i = 0; i <= iterations; ++i) {
    if (i == 1) before = network.swap_statistics();
    fill_inputs(network, options, static_cast<std::uint64_t>(i));
    const auto start = std::chrono::steady_clock::now();
    network.train_step(static_cast<std::uint64_t>(i), sgd.get());
    if (i > 0) times.push_back(milliseconds_since(start));
  }
  std::sort(times.begin(), times.end());
  const SwapStatistics after = network.swap_statistics();
  const auto steps = static_cast<std::uint64_t>(iterations);
  return {{"ms_per_iteration", times[times.size() / 2]},
          {"swaps", (after.transfers - before.transfers) / steps},
          {"bytes_read", (after.read_bytes - before.read_bytes) / steps},
          {"bytes_written", (after.written_bytes - before.written_bytes) / steps},
          {"waited_ms", 1e3 * (after.waited_seconds - before.waited_seconds) / iterations},
          {"loss", network.output(0)[0]}};
}

std::int64_t trained_weights(const Network& network) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < network.graph().nodes.size(); ++i) {
    const NodePlan& tensors = network.plan().nodes[i];
    for (std::size_t w = 0; w < tensors.gradients.size(); ++w) {
      if (tensors.gradients[w] != kNoTensor && !network.graph().nodes[i].weights[w].repeats)
        count += network.graph().nodes[i].weights[w].dims.elements();
    }
  }
  return count;
}

json run(const BenchOptions& options) {
  if (options.threads > 0) set_thread_count(options.threads);
  const ChildResult child = run_in_child([&] { return json(measure(options)); });
  const auto measurements = child.value.get<Measurements>();
  release_idle_memory();
  warm_libraries(options.threads);
  const std::size_t baseline = resident_memory().bytes;

  const auto network = make_network(options, measurements);
  start(*network);
  json result = train(*network, options);
  const std::size_t peak = resident_memory().peak_bytes;
  const NetworkPlan& plan = network->plan();
  const auto requests = memory_requests(plan.pool, plan.stays);
  const ModelDescription model = read_model(options.model);
  result.update({{"model", model.name},
                 {"trained_layers", trained_layers(model, options)},
                 {"trained_weights", trained_weights(*network)},
                 {"batch", options.batch},
                 {"threads", thread_count()},
                 {"swap", to_string(options.swap.mode)},
                 {"made_again", measurements.again.size()},
                 {"lower_bound_bytes", plan.lower_bound_bytes},
                 {"sorting_bytes", make_sorting_planner()->plan(requests).total_bytes},
                 {"planned_bytes", plan.memory.total_bytes},
                 {"baseline_rss_bytes", baseline},
                 {"peak_rss_bytes", peak},
                 {"choosing_peak_rss_bytes", child.peak_bytes},
                 {"disk_read_bytes_per_second", measurements.read_bytes_per_second},
                 {"disk_write_bytes_per_second", measurements.write_bytes_per_second}});
  return result;
}

void check_options(const BenchOptions& options) {
  const bool swaps = options.swap.mode != SwapMode::kOff;
  if (swaps && options.swap_folder.empty())
    throw Error(ErrorCode::kInvalidArgument, "--swap needs --swap-folder");
  if (options.measured && options.swap.mode != SwapMode::kProactive)
    throw Error(ErrorCode::kInvalidArgument, "--measured is for --swap proactive");
}

}  // namespace
}  // namespace moil

int main(int argc, char** argv) {
  moil::cli::Program app("Memory and time of training a model, planned and measured",
                         "memory_bench", moil::kVersion);
  moil::BenchOptions options;
  int trainable = -1, lookahead = 1;
  bool json = false;
  std::string mode = "off";
  app.add_option("--model", options.model, "model description (JSON)").required();
  app.add_option("--batch", options.batch, "samples a step").check(moil::cli::positive());
  app.add_option("--loss", options.loss, "loss layer");
  app.add_option("--trainable-layers", trainable, "train the last N weight units; default: all");
  app.add_option("--freeze", options.frozen_layer, "a layer that is not trained");
  app.add_option("--clip", options.clip_norm, "the most that the gradients' norm may be; 0: any");
  app.add_option("--iterations", options.iterations, "timed steps").check(moil::cli::positive());
  app.add_option("--threads", options.threads, "0: as many as the machine has");
  app.add_option("--budget", options.budget_bytes,
                 "bytes that the plan may take for faster kernels");
  app.add_option("--again", options.again_bytes,
                 "bytes of the pool: outputs are made again until it takes no more; 0: none are");
  app.add_option("--swap", mode, "off, on_demand, reduced or proactive");
  app.add_option("--swap-budget", options.swap.budget_bytes,
                 "bytes of the pool: no more is swapped than it takes; 0: all that can be");
  app.add_option("--swap-folder", options.swap_folder, "where swapped tensors lie; on a real disk");
  app.add_option("--lookahead", lookahead, "orders ahead that a tensor comes in")
      .check(moil::cli::positive());
  app.add_flag("--measured", options.measured,
               "measure the orders and the disk, and choose each lookahead by that");
  app.add_option("--samples", options.samples,
                 "file of samples, each its first input and its target, as 32-bit floats");
  app.add_option("--profile", options.profile,
                 "file of kernels measured before; what is measured is added");
  app.add_flag("--json", json, "print one JSON object, on one line");
  if (const auto exit = app.parse(argc, argv)) return *exit;
  if (trainable >= 0) options.trainable_layers = trainable;
  try {
    options.swap.mode = moil::swap_mode(mode);
    options.swap.weight_lookahead = options.swap.tensor_lookahead = lookahead;
    moil::check_options(options);
    std::printf("%s\n", moil::run(options).dump(json ? -1 : 2).c_str());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "memory_bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
