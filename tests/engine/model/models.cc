#include "tests/engine/model/models.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/device/processor.h"
#include "engine/kernels/rows/update.h"
#include "engine/model/initial_weights.h"
#include "engine/model/preparation.h"

namespace moil::test {

ModelBuilder::ModelBuilder(std::vector<std::int64_t> input_dims, std::string input)
    : last_(std::move(input)) {
  model_.name = "test";
  model_.inputs.push_back({last_, std::move(input_dims)});
}

ModelBuilder& ModelBuilder::layer(const std::string& type, Properties properties,
                                  std::vector<std::string> from, const std::string& name) {
  if (from.empty()) from = {last_};
  last_ = name.empty() ? type + std::to_string(counts_[type]++) : name;
  model_.layers.push_back({last_, type, std::move(from), std::move(properties)});
  return *this;
}

ModelBuilder& ModelBuilder::conv(std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                                 std::int64_t groups) {
  return layer("conv2d", {{"out_channels", channels},
                          {"kernel", kernel},
                          {"stride", stride},
                          {"padding", kernel / 2},
                          {"groups", groups}});
}

ModelBuilder& ModelBuilder::go_back(std::string value) {
  last_ = std::move(value);
  return *this;
}

ModelDescription ModelBuilder::model(std::vector<std::string> outputs) const {
  ModelDescription result = model_;
  result.outputs = outputs.empty() ? std::vector{last_} : std::move(outputs);
  return result;
}

ModelDescription chain_model() {
  ModelBuilder b({3, 8, 8});
  b.conv(8, 3).norm().relu().conv(4, 3, 2).relu();
  b.layer("max_pool", {{"kernel", std::int64_t{2}}}).layer("flatten");
  b.layer("dropout", {{"rate", 0.25}}).fc(3);
  return b.model();
}

ModelDescription residual_model() {
  ModelBuilder b({3, 8, 8});
  const std::string skip = b.conv(8, 3).norm().relu().last();
  b.conv(8, 3).norm().relu().conv(8, 3).norm();
  const std::string sum = b.layer("add", {}, {b.last(), skip}).relu().last();
  b.layer("global_average_pool").fc(8).layer("sigmoid");
  b.layer("multiply", {}, {sum, b.last()});
  return b.layer("global_average_pool").fc(3).model();
}

namespace {

using Ints = std::vector<std::int64_t>;

// [N, 5, 8] of two heads; queries, keys and values of one product.
void add_attention(ModelBuilder& b) {
  const std::string plain = "plain";
  b.fc(24).layer("reshape", {{"dims", Ints{5, 3, 2, 4}}});
  const std::string all = b.layer("permute", {{"order", Ints{0, 2, 3, 1, 4}}}).last();
  std::vector<std::string> parts;
  for (std::int64_t i = 0; i < 3; ++i) {
    b.layer("slice", {{"start", i}, {"length", std::int64_t{1}}}, {all});
    parts.push_back(b.layer("reshape", {{"dims", Ints{2, 5, 4}}, {"layout", plain}}).last());
  }
  b.layer("matmul", {{"transpose_b", true}}, {parts[0], parts[1]});
  b.layer("scale", {{"factor", 0.5}}).layer("softmax");
  b.layer("matmul", {}, {b.last(), parts[2]});
  b.layer("permute", {{"order", Ints{0, 2, 1, 3}}});
  b.layer("reshape", {{"dims", Ints{5, 8}}}).fc(8);
}

}  // namespace

ModelDescription transformer_model() {
  ModelBuilder b({3, 8, 8});
  b.layer("conv2d", {{"out_channels", std::int64_t{8}},
                     {"kernel", std::int64_t{4}},
                     {"stride", std::int64_t{4}}});
  b.layer("reshape", {{"dims", Ints{8, 4}}}).layer("permute", {{"order", Ints{0, 2, 1}}});
  b.layer("prepend_parameter").layer("add_parameter", {{"dims", Ints{5, 8}}});
  for (int block = 0; block < 2; ++block) {
    std::string skip = b.last();
    b.layer("layer_norm");
    add_attention(b);
    skip = b.layer("add", {}, {skip, b.last()}).last();
    b.layer("layer_norm").fc(16).layer("gelu").fc(8);
    b.layer("add", {}, {skip, b.last()});
  }
  b.layer("layer_norm").layer("slice", {{"length", std::int64_t{1}}}).layer("flatten");
  return b.fc(3).model();
}

ModelDescription mlp_model(std::int64_t features, std::int64_t hidden, std::int64_t classes) {
  return ModelBuilder({features}).fc(hidden).layer("tanh").fc(classes).model();
}

std::vector<float> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = uniform(random);
  return values;
}

std::vector<float> one_hot_rows(std::int64_t rows, std::int64_t classes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(rows * classes), 0.0F);
  for (std::int64_t r = 0; r < rows; ++r)
    values[static_cast<std::size_t>(r * classes) + random() % static_cast<unsigned>(classes)] = 1;
  return values;
}

std::set<std::string> layers_of(const ModelDescription& model) {
  std::set<std::string> names;
  for (const LayerDescription& layer : model.layers) names.insert(layer.name);
  return names;
}

ModelDescription prepared(const ModelDescription& model, const std::string& loss) {
  return prepare_training(model, loss, layers_of(model));
}

NetworkOptions training_options(const ModelDescription& model, std::int64_t batch) {
  NetworkOptions options{.batch = batch, .plan = {}};
  options.plan.training = true;
  options.plan.trainable = trainable_weights(model, nullptr);
  options.plan.memory_budget_bytes = std::size_t{1} << 60;
  return options;
}

KernelSelector fixed_kernels() {
  KernelSelector::Options options;
  options.measure = false;
  return KernelSelector(options);
}

KernelSelector own_kernels() {
  KernelSelector::Options options;
  options.measure = false;
  options.providers = {"native"};
  return KernelSelector(options);
}

WeightMap random_weights(const ModelDescription& model, unsigned seed) {
  WeightMap weights = initial_weights(build_graph(model, 2), seed);
  unsigned salt = 0;
  for (auto& [name, tensor] : weights) {
    const auto noise = random_values(static_cast<std::int64_t>(tensor.data.size()), seed + ++salt);
    for (std::size_t i = 0; i < noise.size(); ++i) tensor.data[i] += 0.3F * noise[i];
  }
  return weights;
}

std::vector<float> infer(const ModelDescription& model, const WeightMap& weights,
                         std::int64_t batch, const std::vector<float>& input) {
  KernelSelector kernels = fixed_kernels();
  Network network(model, {.batch = batch, .plan = {}}, kernels);
  network.allocate();
  network.load(weights);
  std::copy(input.begin(), input.end(), network.input(0));
  network.forward();
  return {network.output(0), network.output(0) + network.output_info(0).dims.elements()};
}

void SgdUpdater::gradient_ready(const WeightUpdate& u) {
  for (std::int64_t i = 0; i < u.elements; ++i)
    square_sum_ += double(u.gradient[i]) * u.gradient[i];
}

void SgdUpdater::all_gradients_ready() {
  scale_ = static_cast<float>(std::min(1.0, 0.5 / (std::sqrt(square_sum_) + 1e-6)));
  square_sum_ = 0;
}

void SgdUpdater::apply(const WeightUpdate& u) {
  if (u.elsewhere) {
    SgdCoefficients k;
    k.rate = 0.05F, k.gradient_scale = scale_, k.momentum = 0.9F;
    return u.elsewhere->update(k);
  }
  for (std::int64_t i = 0; i < u.elements; ++i) {
    float step = scale_ * u.gradient[i];
    if (!u.states.empty()) step = u.states[0][i] = 0.9F * u.states[0][i] + step;
    u.weight[i] -= 0.05F * step;
  }
}

void GradientRecorder::apply(const WeightUpdate& update) {
  gradients[std::string(update.name)].assign(update.gradient, update.gradient + update.elements);
}

void fill_inputs(Network& network, unsigned seed) {
  const Dims& target = network.input_info(1).dims;
  const auto inputs = random_values(network.input_info(0).dims.elements(), 2 * seed);
  const auto targets = one_hot_rows(target[0], target[1], 2 * seed + 1);
  std::copy(inputs.begin(), inputs.end(), network.input(0));
  std::copy(targets.begin(), targets.end(), network.input(1));
}

TrainingRun train(const ModelDescription& prepared, const NetworkOptions& options,
                  const WeightMap& weights, int steps, WeightUpdater* updater) {
  KernelSelector kernels = fixed_kernels();
  Network network(prepared, options, kernels);
  network.allocate();
  network.load(weights);
  SgdUpdater sgd;
  TrainingRun run;
  for (int step = 0; step < steps; ++step) {
    const auto seed = static_cast<unsigned>(step);
    fill_inputs(network, seed);
    network.train_step(seed, updater ? updater : &sgd);
    run.losses.push_back(network.output(0)[0]);
  }
  for (const auto& tensor : network.persistent()) {
    const auto data = tensor.data();
    run.tensors[tensor.name].assign(data.values.begin(), data.values.end());
  }
  return run;
}

}  // namespace moil::test
