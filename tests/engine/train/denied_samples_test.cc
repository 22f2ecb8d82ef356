// What training makes of samples of which is only known what they are not: a network that takes
// those of one class for another's stops that, and calls them what it knew them as.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "engine/model/initial_weights.h"
#include "engine/model/preparation.h"
#include "engine/train/evaluate.h"
#include "engine/train/tasks/classify.h"
#include "engine/train/trainer.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

constexpr std::int64_t kFeatures = 60, kClasses = 20, kOfEach = 16;
constexpr std::uint32_t kDog = 7, kCat = 3;
using ClassRange = std::vector<std::uint32_t>;
using WriteTarget = std::function<void(std::uint32_t is, std::span<float> target)>;

ModelDescription animals_model() {
  return test::ModelBuilder({kFeatures}).fc(32).relu().fc(kClasses).model();
}

ClassRange all_classes() {
  ClassRange all(kClasses);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Of each of the classes so many samples: noise, and 1.5 at the class's features.
class Animals : public BatchSource {
 public:
  Animals(ClassRange classes, unsigned seed, WriteTarget write_target)
      : classes_(std::move(classes)),
        inputs_(test::random_values(size() * kFeatures, seed)),
        write_target_(std::move(write_target)) {
    for (std::int64_t i = 0; i < std::ssize(inputs_); ++i)
      if (i % kFeatures % kClasses == class_of(i / kFeatures))
        inputs_[static_cast<std::size_t>(i)] += 1.5F;
  }

  std::int64_t size() const override { return kOfEach * std::ssize(classes_); }
  std::uint32_t class_of(std::int64_t sample) const {
    return classes_[static_cast<std::size_t>(sample) % classes_.size()];
  }
  void read(std::span<const std::int64_t> samples, const Batch& batch) override {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const float* from = inputs_.data() + samples[i] * kFeatures;
      std::copy(from, from + kFeatures, batch.inputs[0].row(i));
      write_target_(class_of(samples[i]), {batch.targets[0].row(i), std::size_t{kClasses}});
    }
  }

 private:
  ClassRange classes_;
  std::vector<float> inputs_;
  WriteTarget write_target_;
};

void write_label(std::uint32_t label, std::span<float> target) {
  classify_task()->targets({}, kClasses, {})->write({&label, 1}, {}, target);
}

WeightMap trained(const WeightMap& weights, Animals source, std::int64_t epochs) {
  TrainerConfig config;
  config.optimizer.kind = OptimizerKind::kAdam;
  config.optimizer.learning_rate = 0.01;
  config.batch = 16;
  config.epochs = epochs;
  KernelSelector kernels = test::fixed_kernels();
  Trainer trainer(animals_model(), nullptr, config, kernels);
  trainer.allocate(weights);
  Trainer::Callbacks callbacks;
  callbacks.order = [&](std::int64_t) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(source.size()));
    std::iota(order.begin(), order.end(), 0);
    return order;
  };
  EXPECT_TRUE(trainer.run(source, callbacks));
  WeightMap after;
  trainer.network().save(after);
  return after;
}

// How many dogs that no training has seen are called what.
std::vector<int> said_of_dogs(WeightMap weights) {
  Animals dogs({kDog}, 99, write_label);
  KernelSelector kernels = test::fixed_kernels();
  Network network(prepare_inference(animals_model(), weights), {.batch = 8, .plan = {}}, kernels);
  network.allocate();
  network.load(weights);
  std::vector<int> said(kClasses);
  for_each_answer(network, dogs, [&](std::int64_t, auto output, auto) {
    ++said[classify_task()->said(output, {})[0]];
  });
  return said;
}

TEST(DeniedSamples, AreAgainWhatTheNetworkKnewThemAs) {
  const WeightMap fresh = initial_weights(build_graph(animals_model(), 1), 1);
  const WeightMap known = trained(fresh, Animals(all_classes(), 1, write_label), 10);
  EXPECT_GE(said_of_dogs(known)[kDog], kOfEach - 2);
  const Animals mistaken({kDog, kCat}, 2, [](auto, auto target) { write_label(kCat, target); });
  const WeightMap wrong = trained(known, mistaken, 10);
  EXPECT_GE(said_of_dogs(wrong)[kCat], kOfEach - 2) << "else the test shows nothing";

  const auto without_cat = [&](const WriteTarget& write_denied) {
    const Animals denied({kDog, kCat}, 3, [&](std::uint32_t is, std::span<float> target) {
      is == kDog ? write_denied(kCat, target) : write_label(kCat, target);
    });
    return said_of_dogs(trained(wrong, denied, 10));
  };
  const auto open = without_cat([](std::uint32_t label, std::span<float> target) {
    classify_task()->targets({}, kClasses, {})->write({}, {&label, 1}, target);
  });
  const auto even = without_cat([](std::uint32_t label, std::span<float> target) {
    std::ranges::fill(target, 1.0F / (kClasses - 1));
    target[label] = 0;
  });
  EXPECT_LE(open[kCat], kOfEach / 4);
  EXPECT_GE(open[kDog], 3 * kOfEach / 4);
  EXPECT_GT(open[kDog], even[kDog]) << "what even shares for all others make of them";
}

}  // namespace
}  // namespace moil
