// Small models for tests of graphs, plans and training, and what it takes to run them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/device/conv/kernel_selector.h"
#include "engine/model/model_description.h"
#include "engine/run/network.h"

namespace moil::test {

// Writes a model layer by layer. A layer reads the one before it, unless `from` names others; it is
// called by its type and a number ("conv2d0"), unless `name` says otherwise.
class ModelBuilder {
 public:
  explicit ModelBuilder(std::vector<std::int64_t> input_dims, std::string input = "input");

  ModelBuilder& layer(const std::string& type, Properties properties = {},
                      std::vector<std::string> from = {}, const std::string& name = "");
  ModelBuilder& conv(std::int64_t channels, std::int64_t kernel, std::int64_t stride = 1,
                     std::int64_t groups = 1);
  ModelBuilder& norm() { return layer("batch_norm"); }
  ModelBuilder& relu() { return layer("relu"); }
  ModelBuilder& fc(std::int64_t units) { return layer("fully_connected", {{"units", units}}); }

  // The value that the next layer reads by default.
  const std::string& last() const { return last_; }
  ModelBuilder& go_back(std::string value);
  // The model whose outputs these values are; without any, the last.
  ModelDescription model(std::vector<std::string> outputs = {}) const;

 private:
  ModelDescription model_;
  std::string last_;
  std::map<std::string, int> counts_;
};

// conv - bn - relu - conv - relu - pool - flatten - dropout - fc
ModelDescription chain_model();
// A stem, a residual block of convolutions with batch norm, an SE block, pooling, a classifier.
ModelDescription residual_model();
// Patches as rows, a class token, positions, two blocks of attention and an MLP, a classifier.
ModelDescription transformer_model();
// fc - tanh - fc
ModelDescription mlp_model(std::int64_t features, std::int64_t hidden, std::int64_t classes);

// A random image or vector network of chains, residual sums, concatenations, gates and poolings,
// with a classifier of 3 classes; a function of the seed.
ModelDescription random_model(unsigned seed);

std::vector<float> random_values(std::int64_t count, unsigned seed);
// Rows of 0 with one 1 each.
std::vector<float> one_hot_rows(std::int64_t rows, std::int64_t classes, unsigned seed);

// The names of all layers.
std::set<std::string> layers_of(const ModelDescription& model);
// Ready to train, all of it, by this loss.
ModelDescription prepared(const ModelDescription& model,
                          const std::string& loss = "softmax_cross_entropy");
// For training all of it, with the same kernels whatever the plan.
NetworkOptions training_options(const ModelDescription& model, std::int64_t batch);

// Kernels that are not measured: the same in every run.
KernelSelector fixed_kernels();
// Our own code's alone.
KernelSelector own_kernels();

// Weights for the model, batch-norm statistics and scales away from 1 and 0.
WeightMap random_weights(const ModelDescription& model, unsigned seed);

// Output 0 of an inference network of this model for random inputs.
std::vector<float> infer(const ModelDescription& model, const WeightMap& weights,
                         std::int64_t batch, const std::vector<float>& input);

// SGD with momentum and, if the plan clips, clipping by global norm: enough to train with.
class SgdUpdater : public WeightUpdater {
 public:
  void gradient_ready(const WeightUpdate& update) override;
  void all_gradients_ready() override;
  void apply(const WeightUpdate& update) override;

 private:
  double square_sum_ = 0;
  float scale_ = 1;
};

// Copies the gradients and changes nothing.
class GradientRecorder : public WeightUpdater {
 public:
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& update) override;
  std::map<std::string, std::vector<float>> gradients;
};

// A random sample of a training network's batch, and one-hot targets.
void fill_inputs(Network& network, unsigned seed);

// What training left behind: the loss of each step, then every persistent tensor.
struct TrainingRun {
  std::vector<float> losses;
  std::map<std::string, std::vector<float>> tensors;
  friend bool operator==(const TrainingRun&, const TrainingRun&) = default;
};
// Trains a prepared model (with loss) for some steps on random batches; updater null: an
// SgdUpdater.
TrainingRun train(const ModelDescription& prepared, const NetworkOptions& options,
                  const WeightMap& weights, int steps, WeightUpdater* updater = nullptr);

}  // namespace moil::test
