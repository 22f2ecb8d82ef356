#include "bench/native/memory_bench/training.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "base/error.h"
#include "base/files/file.h"
#include "engine/device/conv/scratch.h"
#include "engine/io/model_json.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/model/freeze.h"
#include "engine/model/initial_weights.h"
#include "engine/model/preparation.h"
#include "engine/plan/again_choice.h"
#include "engine/tensor/swap_file.h"
#include "engine/train/clip.h"
#include "engine/train/optimizer.h"
#include "engine/train/step_timer.h"
#include "engine/train/weight_step.h"

namespace moil {

std::set<std::string> trained_layers(const ModelDescription& model, const BenchOptions& options) {
  auto layers = freeze_all_but_last(model, options.trainable_layers).trainable_layers;
  if (!options.frozen_layer.empty() && layers.erase(options.frozen_layer) == 0)
    throw Error(ErrorCode::kInvalidArgument,
                "no layer \"" + options.frozen_layer + "\" would be trained");
  return layers;
}

namespace {

constexpr int kMeasuredSteps = 2;

class Sgd final : public WeightUpdater {
 public:
  explicit Sgd(double clip_norm) : clip_norm_(clip_norm) {}

  void gradient_ready(const WeightUpdate& u) override {
    const GradientView gradient{u.gradient, u.elements};
    norm_ = std::hypot(norm_, global_norm({&gradient, 1}));
  }
  void all_gradients_ready() override {
    scale_ = clip_factor(norm_, clip_norm_);
    norm_ = 0;
  }
  void apply(const WeightUpdate& u) override {
    OptimizerStep step = optimizer_step(u);
    step.learning_rate = 1e-4;
    step.gradient_scale = scale_;
    optimizer_->apply(step);
  }

 private:
  const double clip_norm_;
  double norm_ = 0, scale_ = 1;
  std::unique_ptr<Optimizer> optimizer_ = make_optimizer({});
};

struct Planned {
  ModelDescription model;  // with its loss
  NetworkOptions options;
};

Planned plan_input(const BenchOptions& options, const SwapTimes& times,
                   const std::set<std::string>& again) {
  const ModelDescription model = read_model(options.model);
  const auto layers = trained_layers(model, options);
  NetworkOptions o{.batch = options.batch, .plan = {}, .swap_folder = options.swap_folder};
  o.plan.training = true;
  o.plan.trainable = trainable_weights(model, &layers);
  o.plan.clip_by_global_norm = options.clip_norm > 0;
  o.plan.memory_budget_bytes = options.budget_bytes;
  o.plan.swap = options.swap;
  o.plan.swap.times = times;
  o.plan.again = again;
  return {prepare_training(model, options.loss, layers), o};
}

std::unique_ptr<Network> plan(const BenchOptions& options, const SwapTimes& times,
                              const std::set<std::string>& again, KernelSelector& kernels) {
  const Planned p = plan_input(options, times, again);
  return std::make_unique<Network>(p.model, p.options, kernels);
}

// By the forecast, and then by what F takes in a network that is planned so.
std::set<std::string> choose(const BenchOptions& options, KernelSelector& kernels) {
  const Planned p = plan_input(options, {}, {});
  const Graph graph = build_graph(p.model, p.options.batch);
  const auto by = [&](const std::vector<double>& seconds) {
    const auto found = choose_again(graph, p.options.plan, seconds, options.again_bytes, kernels);
    if (!found)
      throw Error(ErrorCode::kInvalidArgument, "no outputs made again bring it down to " +
                                                   std::to_string(options.again_bytes) + " bytes");
    return *found;
  };
  const auto network = plan(options, {}, by(forecast_forward_seconds(graph)), kernels);
  network->allocate();
  Sgd sgd(options.clip_norm);
  StepTimer timer(*network);
  for (int step = 0; step <= kMeasuredSteps; ++step) timer.run(sgd);
  return by(timer.forward_seconds());
}

KernelSelector::Options selector_options(const BenchOptions& options) {
  KernelSelector::Options o;
  o.threads = options.threads;
  return o;
}

KernelChoices read_profile(const std::filesystem::path& path) {
  if (path.empty() || !std::filesystem::exists(path)) return {};
  return parsed_json(read_text(path)).get<KernelChoices>();
}

void write_profile(const std::filesystem::path& path, const KernelChoices& profile) {
  if (!path.empty()) write_file_atomic(path, nlohmann::json(profile).dump());
}

// What each order takes to compute, in seconds.
std::vector<double> measure_orders(Network& network, const BenchOptions& options) {
  start(network);
  const auto sgd = make_sgd(options);
  std::vector<double> seconds(static_cast<std::size_t>(network.plan().last_order()) + 1);
  for (std::uint64_t step = 0; step <= kMeasuredSteps; ++step) {
    if (step == 1) network.measure_orders(&seconds);  // the first warms up
    fill_inputs(network, options, step);
    network.train_step(step, sgd.get());
  }
  for (double& s : seconds) s /= kMeasuredSteps;
  return seconds;
}

}  // namespace

void to_json(nlohmann::json& json, const Measurements& m) {
  json = {{"kernels", m.kernels},
          {"again", m.again},
          {"orders", m.times.order_seconds},
          {"order_read", m.times.read_bytes_per_second},
          {"order_write", m.times.write_bytes_per_second},
          {"read", m.read_bytes_per_second},
          {"write", m.write_bytes_per_second}};
}

void from_json(const nlohmann::json& json, Measurements& m) {
  json.at("kernels").get_to(m.kernels);
  json.at("orders").get_to(m.times.order_seconds);
  json.at("order_read").get_to(m.times.read_bytes_per_second);
  json.at("order_write").get_to(m.times.write_bytes_per_second);
  json.at("read").get_to(m.read_bytes_per_second);
  json.at("write").get_to(m.write_bytes_per_second);
  json.at("again").get_to(m.again);
}

Measurements measure(const BenchOptions& options) {
  Measurements m;
  if (options.swap.mode != SwapMode::kOff) {
    const DiskSpeed disk = measure_disk(options.swap_folder);
    m.read_bytes_per_second = disk.read_bytes_per_second;
    m.write_bytes_per_second = disk.write_bytes_per_second;
  }
  KernelSelector first(selector_options(options), {}, read_profile(options.profile));
  if (options.again_bytes > 0) m.again = choose(options, first);
  const auto network = plan(options, {}, m.again, first);
  if (!options.measured) {
    m.kernels = first.choices();
    write_profile(options.profile, first.profile());
    return m;
  }
  m.times = {measure_orders(*network, options), m.read_bytes_per_second, m.write_bytes_per_second};
  // Anew: the second plan may leave other room for workspaces.
  KernelSelector second(selector_options(options), {}, first.profile());
  (void)plan(options, m.times, m.again, second);
  m.kernels = second.choices();
  write_profile(options.profile, second.profile());
  return m;
}

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

std::unique_ptr<Network> make_network(const BenchOptions& options,
                                      const Measurements& measurements) {
  KernelSelector kernels(selector_options(options), measurements.kernels);
  auto network = plan(options, measurements.times, measurements.again, kernels);
  if (kernels.choices() != measurements.kernels)
    throw Error(ErrorCode::kInternal, "a kernel was chosen in the process that is measured");
  return network;
}

void start(Network& network) {
  network.allocate();
  std::map<std::string, const WeightSpec*> specs;
  for (const Node& node : network.graph().nodes) {
    for (const WeightSpec& spec : node.weights) specs[weight_name(node, spec)] = &spec;
  }
  NamedTensor weight;
  network.load_each([&](const std::string& name) -> const NamedTensor& {
    weight = {};  // not beside the next
    return weight = initial_weight(*specs.at(name), name, /*seed=*/1);
  });
}

namespace {

// The height of the table that the input's numbers are of.
std::int64_t rows_of_table(const Network& network, std::size_t input) {
  const Graph& graph = network.graph();
  const Value& value = graph.values[static_cast<std::size_t>(graph.inputs.at(input))];
  const Node& reader = graph.nodes[static_cast<std::size_t>(value.consumers.at(0).node)];
  return reader.weights.at(0).dims[0];
}

// One target a sample, or a position of it.
std::size_t target_width(const Dims& dims) {
  return static_cast<std::size_t>(dims.rank() == 3 ? dims.back() : dims.elements_per_sample());
}

// Read where they are needed, so that they take no memory beside the network's.
void read_samples(Network& network, const std::filesystem::path& path, std::uint64_t step) {
  const std::size_t targets = network.inputs() - 1;
  const Dims &input = network.input_info(0).dims, &target = network.input_info(targets).dims;
  const auto bytes = [](std::int64_t floats) {
    return static_cast<std::streamsize>(floats) * std::streamsize{sizeof(float)};
  };
  const std::int64_t in = input.elements_per_sample(), out = target.elements_per_sample();
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg(), sample = bytes(in + out);
  if (!file || size == 0 || size % sample != 0)
    throw Error(ErrorCode::kInvalidArgument, path.string() + " does not hold samples of " +
                                                 std::to_string(in) + " and " +
                                                 std::to_string(out) + " numbers");
  auto next = static_cast<std::streamoff>(step) * input[0];
  for (std::int64_t i = 0; i < input[0]; ++i, ++next) {
    file.seekg(next % (size / sample) * sample);
    file.read(reinterpret_cast<char*>(network.input(0) + i * in), bytes(in));
    file.read(reinterpret_cast<char*>(network.input(targets) + i * out), bytes(out));
  }
  if (!file) throw Error(ErrorCode::kIo, "cannot read " + path.string());
}

void fill_at_random(Network& network, std::uint64_t step) {
  auto state = static_cast<std::uint32_t>(step) * 2654435761U + 12345U;
  const auto next = [&state] { return (state = state * 1664525U + 1013904223U) >> 16; };
  const std::size_t target = network.inputs() - 1;
  for (std::size_t i = 0; i < target; ++i) {
    const auto samples = static_cast<std::size_t>(network.input_info(i).dims.elements());
    if (network.input_info(i).type == ElementType::kInt32) {
      const std::int64_t rows = rows_of_table(network, i);
      std::generate_n(network.integers(i), samples, [&] {
        return static_cast<std::int32_t>((std::int64_t{next()} << 16 | next()) % rows);
      });
    } else {
      std::generate_n(network.input(i), samples,
                      [&] { return static_cast<float>(next()) / 32768.0F - 1.0F; });
    }
  }
  const Dims& dims = network.input_info(target).dims;
  const auto targets = static_cast<std::size_t>(dims.elements());
  float* values = network.input(target);
  std::fill(values, values + targets, 0.0F);
  const std::size_t row = target_width(dims);
  for (std::size_t at = 0; at < targets; at += row) values[at + next() % row] = 1.0F;
}

}  // namespace

void fill_inputs(Network& network, const BenchOptions& options, std::uint64_t step) {
  fill_at_random(network, step);
  if (!options.samples.empty()) read_samples(network, options.samples, step);
}

std::unique_ptr<WeightUpdater> make_sgd(const BenchOptions& options) {
  return std::make_unique<Sgd>(options.clip_norm);
}

}  // namespace moil
