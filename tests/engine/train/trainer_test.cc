#include "engine/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/model/initial_weights.h"
#include "engine/model/preparation.h"
#include "engine/train/checkpoint.h"
#include "engine/train/evaluate.h"
#include "engine/train/tasks/classify.h"
#include "tests/engine/device/updates_alone.h"
#include "tests/engine/run/allocation_counter.h"
#include "tests/engine/train/toy_source.h"
#include "tests/errors.h"
#include "tests/plain_build.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

using test::ToySource;
using ::testing::HasSubstr;

constexpr std::int64_t kToyFeatures = 12, kToySamples = 50;

// Dropout, scheduled sampling and batch norm, so that random keys and statistics count.
ModelDescription toy_model() {
  return test::ModelBuilder({kToyFeatures})
      .fc(16)
      .norm()
      .relu()
      .layer("dropout")
      .layer("scheduled_sampling", {{"rate", 0.3}}, {"dropout0", "batch_norm0"})
      .fc(3)
      .model();
}

TrainerConfig config(OptimizerKind kind) {
  TrainerConfig c;
  c.optimizer.kind = kind;
  c.optimizer.learning_rate = kind == OptimizerKind::kSgd ? 0.1 : 0.01;
  c.optimizer.momentum = kind == OptimizerKind::kSgd ? 0.9 : 0;
  c.optimizer.weight_decay = 1e-3;
  c.schedule.kind = ScheduleKind::kCosine;
  c.schedule.warmup_epochs = 0.5;
  c.batch = 8;
  c.epochs = 3;
  return c;
}

// A trainer with its kernels and memory, fresh weights in it.
struct TrainingJob {
  explicit TrainingJob(const TrainerConfig& c, const std::set<std::string>* layers = nullptr)
      : kernels(test::fixed_kernels()), trainer(toy_model(), layers, c, kernels) {
    trainer.allocate(initial_weights(build_graph(toy_model(), 1), c.seed));
  }

  // Trains until `stop` steps are done.
  bool go(std::int64_t stop = std::numeric_limits<std::int64_t>::max()) {
    Trainer::Callbacks callbacks;
    callbacks.order = [](std::int64_t epoch) { return test::rotated(kToySamples, epoch); };
    callbacks.on_step = [&](std::int64_t step, std::int64_t total, double loss) {
      losses.push_back(loss);
      EXPECT_EQ(total, 18);
      return step < stop;
    };
    callbacks.on_epoch = [&](const EpochSummary& s) { epochs.push_back(s); };
    return trainer.run(source, callbacks);
  }
  WeightMap weights() {
    WeightMap w;
    trainer.network().save(w);
    return w;
  }
  std::vector<std::vector<float>> memory() {
    std::vector<std::vector<float>> all;
    for (const auto& t : trainer.network().persistent()) {
      const auto data = t.data();
      all.emplace_back(data.values.begin(), data.values.end());
    }
    return all;
  }

  KernelSelector kernels;
  Trainer trainer;
  ToySource source{kToySamples, kToyFeatures};
  std::vector<double> losses;
  std::vector<EpochSummary> epochs;
};

class TrainerKinds : public ::testing::TestWithParam<std::pair<OptimizerKind, double>> {
 protected:
  TrainerConfig config_of_case() const {
    TrainerConfig c = config(GetParam().first);
    c.clip_norm = GetParam().second;
    return c;
  }
};

TEST_P(TrainerKinds, SameSeedSameBits) {
  TrainingJob a(config_of_case()), b(config_of_case());
  EXPECT_TRUE(a.go());
  EXPECT_TRUE(b.go());
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.memory(), b.memory());
  TrainerConfig other = config_of_case();
  other.seed = 2;
  TrainingJob c(other);
  c.go();
  EXPECT_NE(a.losses, c.losses);
}

// Stopped after any step, saved, and gone on in objects that know nothing but the file.
TEST_P(TrainerKinds, AResumedRunGivesTheSameBits) {
  TrainingJob whole(config_of_case());
  EXPECT_TRUE(whole.go());
  ASSERT_EQ(whole.losses.size(), 18u);
  const test::ScratchFolder folder;
  const auto file = folder / "checkpoint";
  for (std::int64_t stop = 1; stop < 18; ++stop) {
    TrainState state;
    std::vector<double> losses;
    std::vector<EpochSummary> epochs;
    {
      TrainingJob first(config_of_case());
      EXPECT_FALSE(first.go(stop));
      state = first.trainer.state();
      EXPECT_EQ(state.step, stop);
      save_checkpoint(file, "", first.trainer.network().persistent());
      losses = first.losses;
      epochs = first.epochs;
    }
    TrainerConfig same = config_of_case();
    TrainingJob second(same);
    Checkpoint::load(file)->restore(second.trainer.network().persistent());
    second.trainer.network().weights_changed();
    second.trainer.state() = state;
    EXPECT_TRUE(second.go());
    losses.insert(losses.end(), second.losses.begin(), second.losses.end());
    epochs.insert(epochs.end(), second.epochs.begin(), second.epochs.end());
    ASSERT_EQ(losses, whole.losses) << "stopped at " << stop;
    ASSERT_EQ(second.memory(), whole.memory()) << "stopped at " << stop;
    ASSERT_EQ(epochs.size(), 3u);
    for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(epochs[e].loss, whole.epochs[e].loss);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrainerKinds,
                         ::testing::Values(std::pair(OptimizerKind::kSgd, 0.0),
                                           std::pair(OptimizerKind::kSgdw, 0.5),
                                           std::pair(OptimizerKind::kAdam, 0.0),
                                           std::pair(OptimizerKind::kAdamw, 0.5)),
                         [](const auto& test) { return std::string(to_string(test.param.first)); });

TEST(TrainerTest, AStoppedRunGoesOnInTheSameObject) {
  TrainingJob whole(config(OptimizerKind::kAdam)), stopped(config(OptimizerKind::kAdam));
  whole.go();
  for (const std::int64_t stop : {4, 6, 7}) EXPECT_FALSE(stopped.go(stop));
  EXPECT_TRUE(stopped.go());
  EXPECT_EQ(stopped.losses, whole.losses);
  EXPECT_EQ(stopped.memory(), whole.memory());
  EXPECT_TRUE(stopped.go());  // nothing is left to do
  EXPECT_EQ(stopped.losses.size(), 18u);
}

TEST(TrainerTest, StoppedAfterTheLastStepIsDone) {
  TrainingJob run(config(OptimizerKind::kSgd));
  EXPECT_TRUE(run.go(18));
}

TEST(TrainerTest, EpochsReportTheirMeanLoss) {
  TrainingJob run(config(OptimizerKind::kSgd));
  run.go();
  ASSERT_EQ(run.epochs.size(), 3u);
  for (std::size_t e = 0; e < 3; ++e) {
    double sum = 0;
    for (std::size_t s = 0; s < 6; ++s) sum += run.losses[6 * e + s];
    EXPECT_EQ(run.epochs[e].epoch, static_cast<std::int64_t>(e) + 1);
    EXPECT_DOUBLE_EQ(run.epochs[e].loss, sum / 6);
  }
  EXPECT_LE(run.epochs[0].seconds, run.epochs[2].seconds);
}

TEST(TrainerTest, LearnsAToyProblem) {
  TrainerConfig c = config(OptimizerKind::kAdam);
  c.epochs = 3;
  TrainingJob run(c);
  ToySource held_out(90, kToyFeatures, 77);
  const auto accuracy = [&] {
    WeightMap weights = run.weights();
    KernelSelector kernels = test::fixed_kernels();
    Network judged(prepare_inference(toy_model(), weights), {.batch = 8, .plan = {}}, kernels);
    judged.allocate();
    judged.load(weights);
    return evaluate(judged, held_out, *classify_task())[0].value.value();
  };
  const double before = accuracy();
  for (int night = 0; night < 8; ++night) {
    run.trainer.state() = {};
    EXPECT_TRUE(run.go());
  }
  EXPECT_LT(before, 0.7);
  EXPECT_GT(accuracy(), 0.9);
}

TEST(TrainerTest, FrozenLayersStayAsTheyAre) {
  const std::set<std::string> last{"fully_connected1"};
  TrainingJob run(config(OptimizerKind::kAdamw), &last);
  const WeightMap before = run.weights();
  run.go();
  for (const auto& [name, tensor] : run.weights()) {
    const bool trained = name.starts_with("fully_connected1.");
    EXPECT_EQ(tensor.data != before.at(name).data, trained) << name;
  }
}

TEST(TrainerTest, ALayerMayLearnAtARateOfItsOwn) {
  TrainerConfig c = config(OptimizerKind::kSgd);
  c.schedule = {};
  c.optimizer.momentum = 0;
  c.optimizer.weight_decay = 0;
  TrainingJob plain(c);
  const std::string first = plain.trainer.network().graph().nodes.front().name;
  c.rate_factors[first] = 0.25;
  TrainingJob slower(c);
  const WeightMap before = plain.weights();
  EXPECT_FALSE(plain.go(1));
  EXPECT_FALSE(slower.go(1));
  const WeightMap fast = plain.weights(), slow = slower.weights();
  for (const auto& [name, start] : before) {
    const double factor = name.starts_with(first + ".") ? 0.25 : 1;
    for (std::size_t i = 0; i < start.data.size(); ++i) {
      const auto moved = [&](const WeightMap& w) {
        return static_cast<double>(w.at(name).data[i]) - static_cast<double>(start.data[i]);
      };
      EXPECT_NEAR(moved(slow), factor * moved(fast), 1e-7) << name;
    }
  }
}

TEST(TrainerTest, ClippingBoundsTheStep) {
  TrainerConfig c = config(OptimizerKind::kSgd);
  c.optimizer = {};
  c.optimizer.learning_rate = 1;
  c.schedule = {};
  c.clip_norm = 1e-3;
  TrainingJob run(c);
  const WeightMap before = run.weights();
  run.go(1);
  double squares = 0;
  for (const auto& [name, tensor] : run.weights()) {
    if (name.find("running") != std::string::npos) continue;
    for (std::size_t i = 0; i < tensor.data.size(); ++i)
      squares += std::pow(double(tensor.data[i]) - before.at(name).data[i], 2);
  }
  EXPECT_NEAR(std::sqrt(squares), 1e-3, 2e-6);
}

TEST(TrainerTest, PlannedBytesHoldThePoolAndTwoBatches) {
  TrainingJob run(config(OptimizerKind::kSgd));
  EXPECT_EQ(run.trainer.planned_bytes(), run.trainer.network().plan().memory.total_bytes +
                                             2 * (8 * kToyFeatures + 8 * 3) * sizeof(float));
}

TEST(TrainerTest, StepsAllocateNothing) {
  MOIL_NEEDS_PLAIN_BUILD("the sanitizer has a heap of its own");
  TrainerConfig c = config(OptimizerKind::kAdam);
  c.clip_norm = 1;
  TrainingJob run(c);
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t epoch) { return test::rotated(kToySamples, epoch); };
  std::vector<std::uint64_t> counts(20);
  callbacks.on_step = [&](std::int64_t step, std::int64_t, double) {
    counts[static_cast<std::size_t>(step)] = test::allocations();
    return true;
  };
  run.trainer.run(run.source, callbacks);
  EXPECT_EQ(counts[6] - counts[2], 0u);   // within the first epoch
  EXPECT_EQ(counts[12] - counts[8], 0u);  // within the second
}

TEST(TrainerTest, RefusesASourceSmallerThanABatch) {
  TrainingJob run(config(OptimizerKind::kSgd));
  ToySource small(7, kToyFeatures);
  const auto text = test::error_of([&] { run.trainer.run(small, {}); });
  EXPECT_THAT(text, HasSubstr("a batch of 8"));
  EXPECT_THAT(text, HasSubstr("there are 7"));
}

TEST(TrainerTest, RefusesAnOrderOfTheWrongLength) {
  TrainingJob run(config(OptimizerKind::kSgd));
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t) { return std::vector<std::int64_t>(9); };
  test::expect_error(ErrorCode::kInvalidArgument, "names 9 samples; there are 50",
                     [&] { run.trainer.run(run.source, callbacks); });
}

TEST(TrainerTest, RefusesSenselessSchedules) {
  KernelSelector kernels = test::fixed_kernels();
  TrainerConfig c = config(OptimizerKind::kSgd);
  c.schedule.warmup_epochs = -1;
  test::expect_error(ErrorCode::kInvalidArgument, "warmup_epochs",
                     [&] { Trainer(toy_model(), nullptr, c, kernels); });
}

TEST(TrainerTest, ErrorsOfTheSourceComeOutOfRun) {
  TrainingJob run(config(OptimizerKind::kSgd));
  run.source.fails_at = 4;
  EXPECT_THROW(run.go(), std::runtime_error);
  EXPECT_EQ(run.losses.size(), 4u);
  run.source.fails_at = -1;  // and the run may go on
  EXPECT_TRUE(run.go());
  EXPECT_EQ(run.losses.size(), 18u);
}

// Stopping does not wait for, and does not fail with, a batch that nobody wants any more.
TEST(TrainerTest, StoppingIsNotDisturbedByTheNextBatch) {
  TrainingJob run(config(OptimizerKind::kSgd));
  run.source.fails_at = 3;
  EXPECT_FALSE(run.go(3));
}

TEST(TrainerTest, ErrorsOfCallbacksComeOutOfRun) {
  TrainingJob run(config(OptimizerKind::kSgd));
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t epoch) { return test::rotated(kToySamples, epoch); };
  callbacks.on_step = [](std::int64_t, std::int64_t, double) -> bool {
    throw std::logic_error("enough");
  };
  EXPECT_THROW(run.trainer.run(run.source, callbacks), std::logic_error);
}

TEST(TrainerTest, ALossThatIsNoNumberEndsTheRun) {
  TrainerConfig c = config(OptimizerKind::kSgd);
  c.optimizer.learning_rate = 1e30;
  c.schedule = {};
  TrainingJob run(c);
  test::expect_error(ErrorCode::kFailedPrecondition, "the loss is not finite after step 2;",
                     [&] { run.go(); });
}

// The loss is that of the weights before: it does not tell what the last step made.
TEST(TrainerTest, AWeightThatIsNoNumberEndsTheRun) {
  TrainerConfig c = config(OptimizerKind::kSgd);
  c.optimizer.learning_rate = 1e39;
  c.schedule = {};
  TrainingJob run(c);
  const auto text = test::error_of([&] { run.go(); }, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(text, HasSubstr("the weight fully_connected"));
  EXPECT_THAT(text, HasSubstr("is not finite after step 1;"));
}

// Updates of this number on, from 0, are made no numbers; there are six a step.
TrainerConfig updated_elsewhere(int first_broken) {
  TrainerConfig c = config(OptimizerKind::kSgd);
  c.processors = {
      std::make_shared<test::UpdatesAlone>([count = 0, first_broken](SgdCoefficients& k) mutable {
        if (count++ >= first_broken) k.rate = std::numeric_limits<float>::quiet_NaN();
      })};
  const Graph graph = build_graph(training_plan_input(toy_model(), nullptr, c).model, 1);
  for (const Node& node : graph.nodes)
    c.assignment[node.name][static_cast<std::size_t>(StepKind::kApplyGradient)] = kSecondProcessor;
  return c;
}

TEST(TrainerTest, WeightsThatAnotherProcessorUpdatesAreThoseOfTheCpu) {
  TrainingJob here(config(OptimizerKind::kSgd)), elsewhere(updated_elsewhere(1000));
  EXPECT_TRUE(here.go());
  EXPECT_TRUE(elsewhere.go());
  EXPECT_EQ(elsewhere.memory(), here.memory());
}

// No loss comes after the last step, to tell.
TEST(TrainerTest, WeightsThatAnotherProcessorBreaksInTheLastStepEndTheRun) {
  TrainingJob run(updated_elsewhere(17 * 6));
  const auto text = test::error_of([&] { run.go(); }, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(text, HasSubstr("the weight "));
  EXPECT_THAT(text, HasSubstr("is not finite after step 18;"));
  EXPECT_EQ(run.losses.size(), 17u);
  EXPECT_EQ(run.epochs.size(), 2u);  // the last one is not reported as if it had been well
}

TEST(TrainerTest, WeightsThatAnotherProcessorBreaksAreNotKept) {
  TrainingJob stopped(updated_elsewhere(4 * 6));
  test::expect_error(ErrorCode::kFailedPrecondition, "is not finite after step 5;",
                     [&] { stopped.go(5); });
  TrainingJob saved(updated_elsewhere(4 * 6));  // between steps, as before a checkpoint
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t epoch) { return test::rotated(kToySamples, epoch); };
  callbacks.on_step = [&](std::int64_t step, std::int64_t, double) {
    saved.trainer.check_weights();
    saved.losses.push_back(static_cast<double>(step));
    return true;
  };
  test::expect_error(ErrorCode::kFailedPrecondition, "is not finite after step 5;",
                     [&] { saved.trainer.run(saved.source, callbacks); });
  EXPECT_EQ(saved.losses.size(), 4u);
}

// Adam's first step is the learning rate long, whenever a weight takes it.
TEST(TrainerTest, AWeightThatLearnsLateBeginsWithItsFirstStep) {
  TrainerConfig c = config(OptimizerKind::kAdam);
  c.optimizer.weight_decay = 0;
  c.schedule = {};
  TrainingJob run(c);
  const WeightMap before = run.weights();
  run.trainer.state().step = 12;
  EXPECT_FALSE(run.go(13));
  double longest = 0;
  for (const auto& [name, tensor] : run.weights()) {
    if (name.find("running") != std::string::npos) continue;
    EXPECT_EQ(run.trainer.state().updates.at(name), 1) << name;
    for (std::size_t i = 0; i < tensor.data.size(); ++i)
      longest =
          std::max(longest, std::abs(double{tensor.data[i]} - double{before.at(name).data[i]}));
  }
  EXPECT_NEAR(longest, c.optimizer.learning_rate, 1e-5);
}

}  // namespace
}  // namespace moil
