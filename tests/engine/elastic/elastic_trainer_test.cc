#include "engine/elastic/elastic_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <ranges>

#include "engine/model/initial_weights.h"
#include "engine/train/checkpoint.h"
#include "tests/engine/train/toy_source.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

using test::ToySource;

constexpr std::int64_t kFeatures = 12, kTrainedSamples = 50;
constexpr std::int64_t kEpochs = 6, kSteps = 6 * kEpochs;  // of 8 samples

ModelDescription trainer_model() {
  return test::ModelBuilder({kFeatures}).fc(16).norm().relu().fc(16).norm().relu().fc(3).model();
}

// A bias before a batch norm has no gradient but rounding; here there is none.
ModelDescription plain_model() {
  return test::ModelBuilder({kFeatures}).fc(16).relu().fc(16).relu().fc(3).model();
}

TrainerConfig config() {
  TrainerConfig c;
  c.optimizer.learning_rate = 0.05;
  c.optimizer.momentum = 0.9;
  c.schedule.kind = ScheduleKind::kCosine;
  c.batch = 8;
  c.epochs = kEpochs;
  return c;
}

// Not measured: every step of every layer takes a second, and applying an update half of one.
TimingProfile trainer_profile(const ModelDescription& m = trainer_model()) {
  const Graph graph = build_graph(training_plan_input(m, nullptr, config()).model, 8);
  TimingProfile profile;
  for (const Node& node : graph.nodes) {
    LayerTiming layer{node.name, 1, 1, {}};
    for (const WeightSpec& w : node.weights)
      if (w.trainable) layer.weights.push_back({weight_name(node, w), 1.5});
    profile.forward += 1;
    profile.step += 2 + 1.5 * static_cast<double>(layer.weights.size());
    profile.layers.push_back(std::move(layer));
  }
  profile.step -= 1;  // the first passes nothing on
  return profile;
}

TimingProfile scaled(TimingProfile profile, double factor) {
  for (LayerTiming& layer : profile.layers) {
    layer.forward *= factor;
    layer.pass *= factor;
    for (WeightTiming& w : layer.weights) w.update *= factor;
  }
  profile.forward *= factor;
  profile.step *= factor;
  return profile;
}

// The profile's seconds are not the machine's: they count alone.
ElasticConfig as_profiled(double rho, Pace pace = Pace::kFront) {
  ElasticConfig elastic;
  elastic.speedup_ratio = rho;
  elastic.pace = pace;
  elastic.interval_epochs = 2;
  elastic.follow_speed = false;
  return elastic;
}

struct ElasticJob {
  explicit ElasticJob(double rho, const TrainerConfig& c = config(),
                      const ModelDescription& m = trainer_model())
      : ElasticJob(as_profiled(rho), trainer_profile(m), c, m) {}
  explicit ElasticJob(const ElasticConfig& elastic, const TimingProfile& timing = trainer_profile(),
                      const TrainerConfig& c = config(),
                      const ModelDescription& m = trainer_model(),
                      std::vector<IntervalSeconds> seconds = {})
      : steps(kTrainedSamples / c.batch * c.epochs),
        kernels(test::fixed_kernels()),
        layers(test::layers_of(m)),
        probe(m, &layers, c, /*samples=*/4, kernels),
        trainer(m, layers, c, elastic, {.profile = timing}, probe, kernels, std::move(seconds)) {
    WeightMap weights = initial_weights(build_graph(m, 1), c.seed);
    trainer.start(weights);
  }

  bool go(std::int64_t stop = std::numeric_limits<std::int64_t>::max()) {
    Trainer::Callbacks callbacks;
    callbacks.order = [](std::int64_t epoch) { return test::rotated(kTrainedSamples, epoch); };
    callbacks.on_step = [&](std::int64_t step, std::int64_t total, double loss) {
      EXPECT_EQ(total, steps);
      losses.push_back(loss);
      return step < stop;
    };
    callbacks.may_go_on = may_go_on;
    return trainer.run(source, callbacks);
  }

  WeightMap weights() {
    WeightMap map;
    trainer.relay().save(map);
    return map;
  }

  const std::int64_t steps;
  KernelSelector kernels;
  const std::set<std::string> layers;
  ImportanceProbe probe;
  ElasticTrainer trainer;
  ToySource source{kTrainedSamples, kFeatures};
  std::vector<double> losses;
  std::function<bool()> may_go_on;
};

void expect_same(const WeightMap& a, const WeightMap& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) EXPECT_EQ(tensor.data, b.at(name).data) << name;
}

TEST(ElasticTrainer, EachIntervalKeepsToItsTime) {
  for (const double rho : {0.5, 0.6, 0.8}) {
    ElasticJob job(as_profiled(rho, Pace::kEven));
    EXPECT_TRUE(job.go());
    EXPECT_EQ(job.losses.size(), static_cast<std::size_t>(kSteps));
    const auto& intervals = job.trainer.intervals();
    ASSERT_EQ(intervals.size(), 3U);
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      EXPECT_EQ(intervals[i].epoch, static_cast<std::int64_t>(2 * i));
      EXPECT_FALSE(intervals[i].selection.empty());
      EXPECT_EQ(intervals[i].importance.size(), 10U);  // of those not trained, too
      EXPECT_LE(intervals[i].step_seconds, rho * trainer_profile().step);
    }
    EXPECT_LT(job.losses.back(), 0.8 * job.losses.front());
  }
}

// The first intervals have more time than the last, and all together what rho gives.
TEST(ElasticTrainer, TheRunKeepsToItsTime) {
  for (const double rho : {0.5, 0.6, 0.8}) {
    ElasticJob job(rho);
    EXPECT_TRUE(job.go());
    const auto& intervals = job.trainer.intervals();
    for (const ElasticInterval& interval : intervals)
      EXPECT_NEAR(interval.share, interval.step_seconds / trainer_profile().step, 1e-9);
    EXPECT_LE(used_epochs(intervals), kEpochs * rho + 1e-9);
    EXPECT_GT(intervals.front().selection.size(), intervals.back().selection.size());
  }
}

// The weights of the layer that takes least.
std::set<std::string> classifier_of(const TimingProfile& timing) {
  const auto classifier = std::ranges::find_if(std::views::reverse(timing.layers),
                                               [](const auto& l) { return !l.weights.empty(); });
  std::set<std::string> names;
  for (const WeightTiming& w : classifier->weights) names.insert(w.name);
  return names;
}

// A classifier whose bias alone learns would come to nothing; even if choosing takes all the time,
// and whatever the machine's speed makes of the last digits.
TEST(ElasticTrainer, TheSmallestRunTrainsAWholeLayer) {
  const TimingProfile timing = trainer_profile();
  const std::set<std::string> names = classifier_of(timing);
  EXPECT_EQ(names.size(), 2U);
  for (double factor = 1; factor > 1e-8; factor *= 0.073) {
    const TimingProfile faster = scaled(timing, factor);
    ElasticConfig elastic = as_profiled(smallest_speedup_ratio(faster));
    elastic.follow_speed = factor < 1e-6;  // steps and choices of real seconds
    ElasticJob job(elastic, faster);
    EXPECT_TRUE(job.go());
    for (const ElasticInterval& interval : job.trainer.intervals())
      EXPECT_EQ(interval.selection, names) << factor;
  }
}

TEST(ElasticTrainer, OnlyTheSelectedLearn) {
  ElasticJob job(0.5);
  EXPECT_FALSE(job.go(6));
  const WeightMap before = initial_weights(build_graph(trainer_model(), 1), config().seed);
  const auto& selection = job.trainer.intervals().at(0).selection;
  EXPECT_LT(selection.size(), 10U);
  for (const auto& [name, tensor] : job.weights()) {
    if (name.find("running") != std::string::npos) continue;
    EXPECT_EQ(tensor.data != before.at(name).data, selection.contains(name)) << name;
  }
}

// With time for everything, and steps so small that every update serves. (A schedule would follow
// the time, of which a little is left over.)
TEST(ElasticTrainer, EverythingSelectedIsFullTraining) {
  TrainerConfig c = config();
  c.schedule.kind = ScheduleKind::kConstant;
  c.optimizer.learning_rate = 1e-4;
  const ModelDescription m = plain_model();
  ElasticJob job(1.01, c, m);  // times are rounded up
  EXPECT_TRUE(job.go());
  for (const auto& interval : job.trainer.intervals()) ASSERT_EQ(interval.selection.size(), 6U);

  KernelSelector kernels = test::fixed_kernels();
  Trainer full(m, nullptr, c, kernels);
  full.allocate(initial_weights(build_graph(m, 1), c.seed));
  ToySource source(kTrainedSamples, kFeatures);
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t epoch) { return test::rotated(kTrainedSamples, epoch); };
  EXPECT_TRUE(full.run(source, callbacks));
  WeightMap weights;
  full.network().save(weights);
  expect_same(job.weights(), weights);
}

TEST(ElasticTrainer, LessIsPlannedThanForFullTraining) {
  ElasticJob job(0.5);
  job.go(1);
  KernelSelector kernels = test::fixed_kernels();
  EXPECT_LT(job.trainer.intervals().at(0).planned_bytes,
            Trainer(trainer_model(), nullptr, config(), kernels).planned_bytes());
}

// Selections that do not fit the memory are passed over.
TEST(ElasticTrainer, KeepsToTheMemoryBudget) {
  ElasticJob free(0.8);
  free.go(1);
  const std::size_t limit = free.trainer.intervals().at(0).planned_bytes - 1;
  ElasticConfig elastic = as_profiled(0.8);
  elastic.memory_limit_bytes = limit;
  ElasticJob tight(elastic);
  tight.go(1);
  EXPECT_LE(tight.trainer.intervals().at(0).planned_bytes, limit);
}

// What a run of this rho may keep on disk: everything.
ElasticConfig with_maps(double rho) {
  ElasticConfig elastic = as_profiled(rho);
  elastic.maps = {std::filesystem::temp_directory_path(), 1 << 20};
  return elastic;
}

// Stopped after any step, saved, and gone on in objects that know the file and the intervals.
void expect_same_bits_when_resumed(const ElasticConfig& elastic,
                                   const TrainerConfig& c = config()) {
  ElasticJob whole(elastic, trainer_profile(), c);
  EXPECT_TRUE(whole.go());
  const test::ScratchFolder folder;
  const auto file = folder / "checkpoint";
  for (std::int64_t stop = 1; stop < kSteps; ++stop) {
    ElasticJob first(elastic, trainer_profile(), c);
    EXPECT_FALSE(first.go(stop));
    save_checkpoint(file, "", first.trainer.relay().persistent());
    ElasticJob second(elastic, trainer_profile(), c);
    second.trainer.resume(first.trainer.intervals(), first.trainer.state());
    const auto tensors = second.trainer.relay().persistent();
    Checkpoint::load(file)->restore(tensors);
    second.trainer.relay().weights_changed();
    EXPECT_TRUE(second.go());
    expect_same(second.weights(), whole.weights());
    ASSERT_EQ(second.trainer.intervals().size(), whole.trainer.intervals().size());
    for (std::size_t i = 0; i < whole.trainer.intervals().size(); ++i) {
      EXPECT_EQ(second.trainer.intervals()[i].selection, whole.trainer.intervals()[i].selection);
      EXPECT_EQ(second.trainer.intervals()[i].cut, whole.trainer.intervals()[i].cut);
    }
  }
}

// A tensor that is chosen late, or comes back, goes on with its own count: Adam's moments are of
// its own steps.
TEST(ElasticTrainer, EachTensorCountsItsOwnSteps) {
  TrainerConfig c = config();
  c.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 0.01};
  ElasticJob job(0.5, c);
  EXPECT_TRUE(job.go());
  const auto& intervals = job.trainer.intervals();
  std::map<std::string, std::int64_t, std::less<>> steps;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const std::int64_t end = i + 1 < intervals.size() ? intervals[i + 1].first_step : kSteps;
    for (const std::string& weight : intervals[i].selection)
      steps[weight] += end - intervals[i].first_step;
  }
  EXPECT_EQ(job.trainer.state().updates, steps);
  const auto fewer = [](const auto& weight) { return weight.second < kSteps; };
  EXPECT_TRUE(std::ranges::any_of(steps, fewer));
}

TEST(ElasticTrainer, AResumedRunWithAdamGivesTheSameBits) {
  TrainerConfig c = config();
  c.optimizer = {.kind = OptimizerKind::kAdamw, .learning_rate = 0.01, .weight_decay = 1e-3};
  ElasticConfig elastic = as_profiled(0.5);
  elastic.interval_epochs = 1;
  expect_same_bits_when_resumed(elastic, c);
}

// The state's seconds are those of all steps together, whichever interval they were of.
TEST(ElasticTrainer, AResumedRunKeepsWhatFinishedIntervalsTook) {
  const ElasticConfig elastic = as_profiled(0.5);
  ElasticJob first(elastic);
  EXPECT_FALSE(first.go(kSteps - 3));
  const std::vector<ElasticInterval> before = first.trainer.intervals();
  ASSERT_GE(before.size(), 3U);
  TrainState state = first.trainer.state();
  ElasticJob second(elastic);
  second.trainer.resume(before, state);
  for (std::size_t i = 0; i + 1 < before.size(); ++i) {
    EXPECT_GT(before[i].measured.step, 0) << i;
    EXPECT_EQ(second.trainer.intervals()[i].measured.step, before[i].measured.step) << i;
  }
}

TEST(ElasticTrainer, AResumedRunMakesTheSameMapsAgain) {
  expect_same_bits_when_resumed(with_maps(0.5));
}

// Which takes less time, so that the beginning has more.
TEST(ElasticTrainer, AnIntervalBeginsBehindWhatDoesNotLearn) {
  const double rho = 0.5;
  ElasticJob whole(with_maps(rho)), without(rho);
  EXPECT_TRUE(whole.go());
  EXPECT_TRUE(without.go());
  const auto &intervals = whole.trainer.intervals(), &others = without.trainer.intervals();
  ASSERT_EQ(intervals.size(), 3U);
  EXPECT_EQ(intervals[0].cut, "");
  EXPECT_EQ(intervals[1].cut, "relu1");
  EXPECT_GT(intervals[1].caching_seconds, 0);
  EXPECT_LT(intervals[1].step_seconds, trainer_profile().forward);
  for (const auto* run : {&intervals, &others}) EXPECT_LE(used_epochs(*run), kEpochs * rho + 1e-9);
  EXPECT_GT(intervals[0].epochs, others[0].epochs);  // of long steps

  ElasticJob job(with_maps(rho));
  EXPECT_FALSE(job.go(intervals[2].first_step - 1));
  const WeightMap before = job.weights();
  EXPECT_FALSE(job.go(intervals[2].first_step));
  const WeightMap after = job.weights();
  for (const auto& [name, tensor] : after)  // statistics, too: they lie before the cut
    EXPECT_EQ(tensor.data == before.at(name).data, !name.starts_with("fully_connected2")) << name;
}

TEST(ElasticTrainer, TheScheduleFollowsTheTime) {
  ElasticJob job(with_maps(0.6));
  EXPECT_TRUE(job.go());
  double used = 0;
  for (const ElasticInterval& interval : job.trainer.intervals()) {
    used += interval.share * static_cast<double>(interval.epochs) / (kEpochs * 0.6);
    // What an interval leaves is the next one's.
    EXPECT_GE(interval.schedule_end, used - 1e-9);
  }
  EXPECT_GT(job.trainer.intervals()[0].schedule_end, 0.4);  // of a third of the steps
  EXPECT_EQ(job.trainer.intervals().back().schedule_end, 1);
}

// Maps are long work: it is stopped as a step would be, and nothing is lost.
TEST(ElasticTrainer, StopsWhileMapsAreMade) {
  ElasticJob whole(with_maps(0.5)), stopped(with_maps(0.5));
  EXPECT_TRUE(whole.go());
  int left = 3;
  stopped.may_go_on = [&] { return --left > 0; };
  EXPECT_FALSE(stopped.go());
  EXPECT_LT(stopped.trainer.state().step, kSteps);
  EXPECT_FALSE(stopped.trainer.intervals().back().cut.empty());
  EXPECT_FALSE(stopped.trainer.relay().persistent().empty());
  stopped.may_go_on = {};
  EXPECT_TRUE(stopped.go());
  expect_same(stopped.weights(), whole.weights());
}

ElasticConfig following(double rho) {
  ElasticConfig elastic = as_profiled(rho);
  elastic.follow_speed = true;
  return elastic;
}

// A run's, if steps take `factor` times what the profile says, and intervals take `more` besides.
std::vector<IntervalSeconds> seconds_of(const ElasticConfig& elastic, double factor, double more) {
  std::vector<IntervalSeconds> seconds;
  for (;;) {
    ElasticJob job(elastic, trainer_profile(), config(), trainer_model(), seconds);
    EXPECT_TRUE(job.go());
    const auto& intervals = job.trainer.intervals();
    if (seconds.size() == intervals.size()) return seconds;
    const ElasticInterval& next = intervals[seconds.size()];
    const double step = factor * next.profile_seconds;
    seconds.push_back({step, more + step * static_cast<double>(6 * next.epochs)});
  }
}

double whole_run(const std::vector<IntervalSeconds>& seconds) {
  double sum = 0;
  for (const IntervalSeconds& s : seconds) sum += s.whole;
  return sum;
}

// What is left of the time would do for a bias alone.
TEST(ElasticTrainer, ASlowMachineTrainsAWholeLayerAllTheSame) {
  const ElasticConfig elastic = following(smallest_speedup_ratio(trainer_profile()));
  const auto seconds = seconds_of(elastic, /*factor=*/1.05, 0);
  ElasticJob job(elastic, trainer_profile(), config(), trainer_model(), seconds);
  EXPECT_TRUE(job.go());
  for (const ElasticInterval& interval : job.trainer.intervals())
    EXPECT_EQ(interval.selection, classifier_of(trainer_profile()));
}

// Whatever the steps take: the profile is corrected, and what was too much is taken from the rest.
TEST(ElasticTrainer, WhatIntervalsReallyTakeIsSettledByTheRest) {
  const double full = trainer_profile().step * kSteps;
  for (const double factor : {0.8, 1.0, 1.2}) {
    const auto seconds = seconds_of(following(0.7), factor, 0);
    EXPECT_GE(seconds.size(), 3U);
    EXPECT_LE(whole_run(seconds), 0.7 * full * 1.01) << factor;
    EXPECT_GE(whole_run(seconds), 0.7 * full * 0.9) << factor;
    EXPECT_LE(whole_run(seconds_of(following(0.7), factor, 0.005 * full)), 0.7 * full * 1.01);
  }
}

TEST(ElasticTrainer, ASlowerMachineTrainsLess) {
  const auto selected = [](double factor) {
    const ElasticConfig elastic = following(0.6);
    ElasticJob job(elastic, trainer_profile(), config(), trainer_model(),
                   seconds_of(elastic, factor, 0));
    EXPECT_TRUE(job.go());
    EXPECT_EQ(job.trainer.intervals()[0].epochs, 1);
    const ElasticInterval& second = job.trainer.intervals()[1];
    EXPECT_NEAR(second.step_seconds, factor * second.profile_seconds, 1e-9);
    return second.selection.size();
  };
  EXPECT_LT(selected(1.4), selected(0.8));
}

// As a profile is, seconds are an input.
TEST(ElasticTrainer, ARunThatIsGivenAnothersSecondsGivesTheSameBits) {
  const TimingProfile timing = scaled(trainer_profile(), 1e-6);
  ElasticJob measured(following(0.6), timing);
  EXPECT_TRUE(measured.go());
  std::vector<IntervalSeconds> seconds;
  for (const ElasticInterval& interval : measured.trainer.intervals()) {
    EXPECT_GT(interval.measured.step, 0);
    EXPECT_GT(interval.measured.whole, interval.measured.step);
    seconds.push_back(interval.measured);
  }
  ElasticJob replay(following(0.6), timing, config(), trainer_model(), seconds);
  EXPECT_TRUE(replay.go());
  expect_same(replay.weights(), measured.weights());
  ASSERT_EQ(replay.trainer.intervals().size(), seconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i)
    EXPECT_EQ(replay.trainer.intervals()[i].selection, measured.trainer.intervals()[i].selection);
}

// A probe of half a batch is a step.
TEST(ElasticTrainer, ProbesWhereThatIsASmallPartOfWhatIsTrained) {
  ElasticJob few(0.6);
  EXPECT_TRUE(few.go());
  const auto& intervals = few.trainer.intervals();
  ASSERT_EQ(intervals.size(), 3U);
  EXPECT_GT(intervals[0].probe_seconds, 0);
  for (const std::size_t i : {1, 2}) {
    EXPECT_EQ(intervals[i].probe_seconds, 0);
    EXPECT_EQ(intervals[i].importance, intervals[0].importance);
    EXPECT_FALSE(intervals[i].selection.empty());
  }
  TrainerConfig c = config();
  c.epochs = 240;
  ElasticConfig elastic = as_profiled(0.6, Pace::kEven);
  elastic.interval_epochs = 120;
  c.batch = kTrainedSamples;
  ElasticJob many(elastic, trainer_profile(), c);
  EXPECT_TRUE(many.go());
  ASSERT_GE(many.trainer.intervals().size(), 2U);
  for (const ElasticInterval& interval : many.trainer.intervals())
    EXPECT_GT(interval.probe_seconds, 0);
}

// Small batches leave little beside weights, states and the probe's copies of the weights.
TEST(ElasticTrainer, ProbesAgainOnlyWhereThatFitsIntoFullTrainingsMemory) {
  TrainerConfig c = config();
  c.epochs = 240;
  ElasticConfig elastic = as_profiled(0.6, Pace::kEven);
  elastic.interval_epochs = 120;
  ElasticJob job(elastic, trainer_profile(), c);
  EXPECT_TRUE(job.go());
  const auto& intervals = job.trainer.intervals();
  ASSERT_EQ(intervals.size(), 2U);
  EXPECT_GT(intervals[0].probe_seconds, 0);
  EXPECT_EQ(intervals[1].probe_seconds, 0);
}

TEST(ElasticTrainer, RefusesWhatIsImpossible) {
  const double smallest = smallest_speedup_ratio(trainer_profile());
  EXPECT_GT(smallest, trainer_profile().forward / trainer_profile().step);
  EXPECT_NO_THROW(ElasticJob{smallest});
  test::expect_error(ErrorCode::kInvalidArgument, "smallest possible",
                     [&] { ElasticJob job(smallest - 0.01); });
  ElasticConfig none = as_profiled(0.5);
  none.interval_epochs = 0;
  EXPECT_THROW(ElasticJob{none}, Error);
  TrainerConfig c = config();
  c.batch = 64;
  ElasticJob large(0.5, c);
  EXPECT_THROW(large.go(), Error);
}

}  // namespace
}  // namespace moil
