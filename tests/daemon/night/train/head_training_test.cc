#include "daemon/night/train/head_training.h"

#include <numeric>

#include "engine/device/conv/kernel_selector.h"
#include "engine/train/checkpoint.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

constexpr std::int64_t kSamples = 24, kSteps = 6;

class NumberSource final : public BatchSource {
 public:
  std::int64_t size() const override { return kSamples; }
  void read(std::span<const std::int64_t> indices, const Batch& batch) override {
    float *inputs = batch.inputs[0].values.data(), *targets = batch.targets[0].values.data();
    for (const std::int64_t i : indices) {
      for (std::int64_t p = 0; p < 64; ++p)
        *inputs++ = static_cast<float>((p * 7 + i * 13) * (i + 3) % 17) / 8 - 1;
      for (std::int64_t k = 0; k < 3; ++k) *targets++ = k == i % 3 ? 1.0F : 0.0F;
    }
  }
};

TrainerConfig config() {
  TrainerConfig c;
  c.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 0.01};
  c.batch = 8;
  c.epochs = 2;
  return c;
}

// Which kernels are fastest is measured once: runs that are compared share them.
KernelSelector& kernels() {
  static KernelSelector measured;
  return measured;
}

struct OneRun {
  explicit OneRun(const std::filesystem::path& begun = {})
      : trainer(bundle.description, nullptr, config(), kernels()),
        training(plain_training(trainer, begun)) {}

  bool go(std::int64_t stop) {
    Trainer::Callbacks callbacks;
    callbacks.order = [](std::int64_t) {
      std::vector<std::int64_t> order(kSamples);
      std::iota(order.begin(), order.end(), 0);
      return order;
    };
    callbacks.on_step = [&](std::int64_t step, std::int64_t, double) { return step < stop; };
    NumberSource source;
    return training->run(source, callbacks);
  }
  void begin(const std::filesystem::path& file) {
    ModelWeights weights;
    for (const auto& [name, tensor] : bundle.weights) weights.change(name, tensor);
    (void)training->begin(weights, file);
  }
  WeightMap weights() const {
    WeightMap map;
    for (const auto& [name, tensor] : bundle.weights) map[name] = training->weight(name);
    return map;
  }

  ModelBundle bundle = small_bundle();
  Trainer trainer;
  std::unique_ptr<HeadTraining> training;
};

// Adam goes by the steps that each weight has taken: they are saved, and told from the run's if
// an older build did not save them.
TEST(HeadTraining, AResumedRunKnowsTheStepsOfEachWeight) {
  const TempFolder folder;
  OneRun whole;
  whole.begin(folder / "none");
  EXPECT_TRUE(whole.go(kSteps));

  OneRun first;
  const auto file = folder / "checkpoint";
  first.begin(file);
  EXPECT_FALSE(first.go(4));
  first.training->save_checkpoint(file, {{"curve", nlohmann::json::array()}});
  for (const bool old : {false, true}) {
    if (old) {
      auto text = parsed_json(Checkpoint::load(file)->text());
      text["state"].erase("updates");
      save_checkpoint(file, text.dump(), first.trainer.network().persistent());
    }
    OneRun second;
    second.begin(file);
    EXPECT_EQ(second.training->state().updates, first.training->state().updates);
    EXPECT_EQ(second.training->state().updates.at("classifier.weight"), 4);
    EXPECT_TRUE(second.go(kSteps));
    for (const auto& [name, tensor] : second.weights())
      EXPECT_EQ(tensor.data, whole.weights().at(name).data) << name;
  }
}

// Its steps are counted anew, Adam's are not; and its own checkpoint comes first.
TEST(HeadTraining, BeginsWithWhatAnotherTrainingCameTo) {
  const TempFolder folder;
  OneRun first;
  first.begin(folder / "none");
  EXPECT_TRUE(first.go(kSteps));
  first.training->save_checkpoint(folder / "first", {{"curve", nlohmann::json::array()}});
  OneRun second(folder / "first");
  second.begin(folder / "second");
  EXPECT_EQ(second.training->state().step, 0);
  EXPECT_EQ(second.training->state().updates.at("classifier.weight"), kSteps);
  for (const auto& [name, tensor] : second.weights())
    EXPECT_EQ(tensor.data, first.weights().at(name).data) << name;
  EXPECT_FALSE(second.go(2));
  second.training->save_checkpoint(folder / "second", {{"curve", nlohmann::json::array()}});
  OneRun third(folder / "first");
  third.begin(folder / "second");
  EXPECT_EQ(third.training->state().step, 2);
  EXPECT_EQ(third.training->state().updates.at("classifier.weight"), kSteps + 2);
  OneRun lost(folder / "not there");
  EXPECT_EQ(error_of([&] { lost.begin(folder / "none"); }), ErrorCode::kBadData);
}

}  // namespace
}  // namespace moil::night
