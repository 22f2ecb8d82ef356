// The networks of NNTrainer's papers that have many steps or many blocks: losses, gradients,
// weights and outputs of five steps against PyTorch's (sequence_networks.py).
#include <gtest/gtest.h>

#include <cmath>

#include "engine/io/model_json.h"
#include "engine/layers/weight_order.h"
#include "engine/model/preparation.h"
#include "engine/train/clip.h"
#include "engine/train/optimizer.h"
#include "engine/train/weight_step.h"
#include "tests/parity/cases.h"

namespace moil::test {
namespace {

void expect_within(double bound, const std::vector<float>& actual, const Json& place,
                   const std::string& what) {
  const std::vector<float> expected = Cases::get()->tensor(place).values;
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = 1e-7, difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(std::isfinite(actual[i])) << what;
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    difference = std::max(difference, std::abs(static_cast<double>(actual[i]) - expected[i]));
  }
  EXPECT_LE(difference, bound * largest) << what << ", of at most " << largest;
}

WeightMap weights_in(const Json& places) {
  WeightMap weights;
  for (const auto& [name, place] : places.items()) {
    const Tensor tensor = Cases::get()->tensor(place);
    const auto dims = tensor.dims.values();
    weights[name] = {{dims.begin(), dims.end()}, tensor.values};
  }
  return weights;
}

// Clipped SGD, which looks at each gradient.
class ComparedSgd final : public WeightUpdater {
 public:
  ComparedSgd(const Graph& graph, const Json& network) : network_(network) {
    for (const Node& node : graph.nodes)
      for (const WeightSpec& spec : node.weights) specs_[weight_name(node, spec)] = &spec;
  }
  void begin(const Json& gradients) {
    gradients_ = &gradients;
    compared_ = 0, square_ = 0;
  }
  std::size_t compared() const { return compared_; }

  void gradient_ready(const WeightUpdate& u) override {
    const GradientView view{u.gradient, u.elements};
    const double norm = global_norm({&view, 1});
    square_ += norm * norm;
    std::vector<float> gradient(static_cast<std::size_t>(u.elements));
    const std::string name(u.name);
    to_file_order(*specs_.at(name), u.gradient, gradient.data());
    expect_within(1e-3, gradient, gradients_->at(name), "the gradient of " + name);
    ++compared_;
  }
  void all_gradients_ready() override {
    scale_ = clip_factor(std::sqrt(square_), network_.at("clip_norm"));
  }
  void apply(const WeightUpdate& u) override {
    OptimizerStep step = optimizer_step(u);
    step.learning_rate = network_.at("rate");
    step.gradient_scale = scale_;
    optimizer_->apply(step);
  }

 private:
  const Json& network_;
  std::map<std::string, const WeightSpec*> specs_;
  const Json* gradients_ = nullptr;
  std::size_t compared_ = 0;
  double square_ = 0, scale_ = 1;
  std::unique_ptr<Optimizer> optimizer_ = make_optimizer({});
};

void fill(Network& network, std::size_t input, const Json& place) {
  const std::vector<float> values = Cases::get()->tensor(place).values;
  if (network.input_info(input).type == ElementType::kInt32)
    std::copy(values.begin(), values.end(), network.integers(input));
  else
    std::copy(values.begin(), values.end(), network.input(input));
}

// With the weights that training left, and the last step's inputs.
void expect_output(const ModelDescription& model, WeightMap weights, const Json& network,
                   KernelSelector& kernels) {
  const ModelDescription prepared = prepare_inference(model, weights);
  Network inference(prepared, {.batch = network.at("batch"), .plan = {}}, kernels);
  inference.allocate();
  inference.load(weights);
  const Json& inputs = network.at("steps").back().at("inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) fill(inference, i, inputs[i]);
  inference.forward();
  const std::int64_t elements = inference.output_info(0).dims.elements();
  expect_within(1e-3, {inference.output(0), inference.output(0) + elements}, network.at("output"),
                "the output");
}

void check_sequence_network(const Json& network, bool swapped) {
  KernelSelector::Options plain;
  plain.measure = false;
  KernelSelector kernels(plain);
  const ModelDescription model = parse_model(network.at("model").get<std::string>());
  const auto trained = trainable_weights(model, nullptr);
  NetworkOptions options{.batch = network.at("batch"), .plan = {}};
  options.plan.training = options.plan.clip_by_global_norm = true;
  options.plan.trainable = trained;
  options.plan.row_gradients = false;
  if (swapped) {
    options.plan.swap.mode = SwapMode::kProactive;
    options.plan.swap.smallest_bytes = 16;
    options.swap_folder = ::testing::TempDir();
  }
  std::set<std::string> layers;
  for (const LayerDescription& layer : model.layers) layers.insert(layer.name);
  Network training(prepare_training(model, network.at("loss").get<std::string>(), layers), options,
                   kernels);
  EXPECT_EQ(training.plan().swaps(), swapped);
  training.allocate();
  training.load(weights_in(network.at("start")));
  ComparedSgd sgd(training.graph(), network);
  std::uint64_t key = 0;
  for (const Json& step : network.at("steps")) {
    const Json& inputs = step.at("inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) fill(training, i, inputs[i]);
    fill(training, inputs.size(), step.at("target"));
    sgd.begin(step.at("gradients"));
    training.train_step(++key, &sgd);
    EXPECT_NEAR(training.output(0)[0] / step.at("loss").get<double>(), 1, 1e-4);
    EXPECT_EQ(sgd.compared(), trained.size());
  }
  WeightMap end;
  training.save(end);
  for (const auto& [name, place] : network.at("end").items())
    expect_within(1e-3, end.at(name).data, place, name);
  expect_output(model, end, network, kernels);
}

TEST(SequenceNetworks, TrainAsPyTorchDoes) {
  MOIL_NEEDS_PARITY_CASES();
  const auto found = Cases::get()->of_kind("sequence network");
  ASSERT_EQ(found.size(), 2U);
  for (const Json* network : found) {
    for (const bool swapped : {false, true}) {
      SCOPED_TRACE(network->at("name").get<std::string>() + (swapped ? ", swapped" : ""));
      check_sequence_network(*network, swapped);
    }
  }
}

}  // namespace
}  // namespace moil::test
