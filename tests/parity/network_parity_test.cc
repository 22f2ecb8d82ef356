// Whole networks through the trainer: the losses of every step, and all weights and statistics
// after the last, against PyTorch's.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "engine/device/conv/kernel_selector.h"
#include "engine/train/trainer.h"
#include "tests/parity/cases.h"

namespace moil::test {
namespace {

ModelDescription model_of(const Json& c) {
  ModelDescription model;
  model.name = c.at("name");
  model.inputs = {{"input", c.at("dims").get<std::vector<std::int64_t>>(),
                   c.at("integers") ? ElementType::kInt32 : ElementType::kFloat32}};
  for (const Json& layer : c.at("layers")) {
    model.layers.push_back({layer.at("name"), layer.at("type"),
                            layer.at("inputs").get<std::vector<std::string>>(),
                            properties_of(layer.at("properties"))});
  }
  model.outputs = {c.at("output")};
  return model;
}

WeightMap weights_of(const Json& places) {
  WeightMap weights;
  for (const auto& [name, place] : places.items()) {
    const Tensor tensor = Cases::get()->tensor(place);
    const auto dims = tensor.dims.values();
    weights[name] = {{dims.begin(), dims.end()}, tensor.values};
  }
  return weights;
}

TrainerConfig config_of(const Json& c) {
  const Json& o = c.at("config");
  TrainerConfig config;
  if (c.at("loss") != "") config.loss.type = c.at("loss");
  config.optimizer.kind = optimizer_kind(o.at("kind").get<std::string>());
  config.optimizer.learning_rate = o.at("learning_rate");
  config.optimizer.weight_decay = o.at("weight_decay");
  config.optimizer.momentum = o.value("momentum", 0.0);
  config.optimizer.epsilon = o.value("epsilon", config.optimizer.epsilon);
  config.clip_norm = c.at("clip_norm");
  config.batch = c.at("batch");
  return config;
}

// The samples of a case, in their order.
class CaseSource : public BatchSource {
 public:
  explicit CaseSource(const Json& c)
      : samples_(Cases::get()->tensor(c.at("inputs")).dims[0]),
        inputs_(in_memory_order(Cases::get()->tensor(c.at("inputs")))),
        targets_(Cases::get()->tensor(c.at("targets")).values) {
    if (!c.at("integers")) return;
    for (float& x : inputs_) x = std::bit_cast<float>(static_cast<std::int32_t>(x));
  }

  std::int64_t size() const override { return samples_; }
  void read(std::span<const std::int64_t> samples, const Batch& batch) override {
    float *inputs = batch.inputs[0].values.data(), *targets = batch.targets[0].values.data();
    for (const auto s : samples) {
      inputs = copy_row(inputs_, s, inputs);
      targets = copy_row(targets_, s, targets);
    }
  }

 private:
  float* copy_row(const std::vector<float>& rows, std::int64_t row, float* to) const {
    const auto width = static_cast<std::ptrdiff_t>(rows.size()) / samples_;
    return std::copy_n(rows.begin() + row * width, width, to);
  }

  std::int64_t samples_;
  std::vector<float> inputs_, targets_;
};

void check_network(const Json& c, KernelSelector& kernels) {
  const auto trained = c.at("trained").get<std::set<std::string>>();
  Trainer trainer(model_of(c), &trained, config_of(c), kernels);
  trainer.allocate(weights_of(c.at("start")));
  CaseSource source(c);
  std::vector<float> losses;
  Trainer::Callbacks callbacks;
  callbacks.order = [&](std::int64_t) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(source.size()));
    std::iota(order.begin(), order.end(), 0);
    return order;
  };
  callbacks.on_step = [&](std::int64_t, std::int64_t, double loss) {
    losses.push_back(static_cast<float>(loss));
    return true;
  };
  EXPECT_TRUE(trainer.run(source, callbacks));
  expect_close(losses, c.at("losses").get<std::vector<float>>(), "losses");
  WeightMap end;
  trainer.network().save(end);
  ASSERT_EQ(end.size(), c.at("end").size());
  for (const auto& [name, expected] : weights_of(c.at("end")))
    expect_close(end.at(name).data, expected.data, name);
}

TEST(NetworkParity, TrainsAsPyTorchDoes) {
  MOIL_NEEDS_PARITY_CASES();
  const auto found = Cases::get()->of_kind("network");
  ASSERT_GE(found.size(), 18U);
  for (const bool measure : {false, true}) {
    KernelSelector::Options options;
    options.measure = measure;
    KernelSelector kernels(options);
    for (const Json* c : found) {
      SCOPED_TRACE(c->at("name").get<std::string>() + (measure ? ", measured" : ""));
      check_network(*c, kernels);
    }
  }
}

}  // namespace
}  // namespace moil::test
