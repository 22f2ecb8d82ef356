#include "engine/elastic/elastic_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <ranges>

#include "base/error.h"
#include "engine/elastic/interval_schedule.h"
#include "engine/elastic/predicted_step.h"
#include "engine/train/checkpoint.h"
#include "tests/engine/train/toy_source.h"

namespace moil {
namespace {

using testing::ToySource;

constexpr std::int64_t kFeatures = 12, kSamples = 50;
constexpr std::int64_t kEpochs = 6, kSteps = 6 * kEpochs;  // of 8 samples

ModelDescription model() {
  return testing::ModelBuilder({kFeatures}).fc(16).norm().relu().fc(16).norm().relu().fc(3).model();
}

// A bias before a batch norm has no gradient but rounding; here there is none.
ModelDescription plain_model() {
  return testing::ModelBuilder({kFeatures}).fc(16).relu().fc(16).relu().fc(3).model();
}

std::set<std::string> layers_of(const ModelDescription& m) {
  std::set<std::string> names;
  for (const LayerDescription& layer : m.layers) names.insert(layer.name);
  return names;
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

// As made up as the profile that goes with it.
constexpr ElasticOverhead kNoOverhead{};

// Not measured: every step of every layer takes a second.
TimingProfile profile(const ModelDescription& m = model()) {
  const Graph graph = build_graph(training_plan_input(m, nullptr, config()).model, 8);
  TimingProfile profile;
  for (const Node& node : graph.nodes) {
    LayerTiming layer{node.name, 1, 1, 0, 1, {}};
    for (const WeightSpec& w : node.weights) {
      if (!w.trainable) continue;
      layer.weights.push_back({weight_name(node, w), 1, 1, 0.5});
      layer.all_gradient += 1;
    }
    profile.forward += 1;
    profile.step += 2 + layer.all_gradient + 0.5 * static_cast<double>(layer.weights.size());
    profile.layers.push_back(std::move(layer));
  }
  profile.step -= 1;  // the first passes nothing on
  return profile;
}

std::set<std::string> all_weights(const TimingProfile& profile) {
  std::set<std::string> names;
  for (const LayerTiming& layer : profile.layers) {
    for (const WeightTiming& w : layer.weights) names.insert(w.name);
  }
  return names;
}

struct ElasticJob {
  explicit ElasticJob(double rho, const TrainerConfig& c = config(), std::int64_t interval = 2,
                      const ModelDescription& m = model())
      : ElasticJob({.speedup_ratio = rho, .interval_epochs = interval},
                   {{.profile = profile(m), .overhead = kNoOverhead}}, c, m) {}
  ElasticJob(const ElasticConfig& elastic, std::vector<ProfileInForce> profiles,
             const TrainerConfig& c = config(), const ModelDescription& m = model())
      : kernels(testing::fixed_kernels()),
        layers(layers_of(m)),
        probe(m, &layers, c, /*samples=*/4, kernels),
        trainer(m, layers, c, elastic, std::move(profiles), probe, kernels) {
    WeightMap weights = initial_weights(build_graph(m, 1), c.seed);
    trainer.start(weights);
  }

  bool go(std::int64_t stop = std::numeric_limits<std::int64_t>::max()) {
    Trainer::Callbacks callbacks;
    callbacks.order = [](std::int64_t epoch) { return testing::rotated(kSamples, epoch); };
    callbacks.on_step = [&](std::int64_t step, std::int64_t total, double loss) {
      EXPECT_EQ(total, kSteps);
      losses.push_back(loss);
      return step < stop;
    };
    callbacks.may_go_on = may_go_on;
    return trainer.run(source, callbacks);
  }

  WeightMap weights() {
    WeightMap map;
    trainer.save(map);
    return map;
  }

  KernelSelector kernels;
  const std::set<std::string> layers;
  ImportanceProbe probe;
  ElasticTrainer trainer;
  ToySource source{kSamples, kFeatures};
  std::vector<double> losses;
  std::function<bool()> may_go_on;
};

void expect_same(const WeightMap& a, const WeightMap& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) EXPECT_EQ(tensor.data, b.at(name).data) << name;
}

TEST(ElasticTrainer, EachIntervalKeepsToItsTime) {
  for (const double rho : {0.5, 0.6, 0.8}) {
    ElasticJob job({.speedup_ratio = rho, .pace = Pace::kEven, .interval_epochs = 2},
                   {{.profile = profile(), .overhead = kNoOverhead}});
    EXPECT_TRUE(job.go());
    EXPECT_EQ(job.losses.size(), static_cast<std::size_t>(kSteps));
    const auto& intervals = job.trainer.intervals();
    ASSERT_EQ(intervals.size(), 3U);
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      EXPECT_EQ(intervals[i].epoch, static_cast<std::int64_t>(2 * i));
      EXPECT_FALSE(intervals[i].selection.empty());
      EXPECT_EQ(intervals[i].importance.size(), 10U);  // of those not trained, too
      EXPECT_LE(intervals[i].step_seconds, rho * profile().step);
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
      EXPECT_NEAR(interval.share, interval.step_seconds / profile().step, 1e-9);
    EXPECT_LE(used_epochs(intervals), kEpochs * rho + 1e-9);
    EXPECT_GT(intervals.front().selection.size(), intervals.back().selection.size());
  }
}

// A classifier whose bias alone learns would come to nothing; also where choosing takes all the
// time, and whatever the machine's speed makes of the last digits.
TEST(ElasticTrainer, TheSmallestRunTrainsAWholeLayer) {
  const TimingProfile timing = profile();
  const auto classifier = std::ranges::find_if(std::views::reverse(timing.layers),
                                               [](const auto& l) { return !l.weights.empty(); });
  std::set<std::string> names;
  for (const WeightTiming& w : classifier->weights) names.insert(w.name);
  EXPECT_EQ(names.size(), 2U);
  for (double factor = 1; factor > 1e-4; factor *= 0.73) {
    const TimingProfile faster = scaled(timing, factor);
    const ElasticConfig elastic{.speedup_ratio = smallest_speedup_ratio(faster),
                                .interval_epochs = 2};
    ElasticJob job(elastic, {{.profile = faster, .overhead = ElasticOverhead{.choose = 1e3}}});
    EXPECT_TRUE(job.go());
    for (const ElasticInterval& interval : job.trainer.intervals())
      EXPECT_EQ(interval.selection, names) << factor;
  }
}

TEST(ElasticTrainer, OnlyTheSelectedLearn) {
  ElasticJob job(0.5);
  EXPECT_FALSE(job.go(6));
  const WeightMap before = initial_weights(build_graph(model(), 1), config().seed);
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
  ElasticJob job(1.01, c, 2, m);  // times are rounded up
  EXPECT_TRUE(job.go());
  for (const auto& interval : job.trainer.intervals()) ASSERT_EQ(interval.selection.size(), 6U);

  KernelSelector kernels = testing::fixed_kernels();
  Trainer full(m, nullptr, c, kernels);
  full.allocate(initial_weights(build_graph(m, 1), c.seed));
  ToySource source(kSamples, kFeatures);
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t epoch) { return testing::rotated(kSamples, epoch); };
  EXPECT_TRUE(full.run(source, callbacks));
  WeightMap weights;
  full.network().save(weights);
  expect_same(job.weights(), weights);
}

TEST(ElasticTrainer, LessIsPlannedThanForFullTraining) {
  ElasticJob job(0.5);
  job.go(1);
  KernelSelector kernels = testing::fixed_kernels();
  EXPECT_LT(job.trainer.intervals().at(0).planned_bytes,
            Trainer(model(), nullptr, config(), kernels).planned_bytes());
}

// Selections that do not fit the memory are passed over.
TEST(ElasticTrainer, KeepsToTheMemoryBudget) {
  ElasticJob free(0.8);
  free.go(1);
  const std::size_t limit = free.trainer.intervals().at(0).planned_bytes - 1;
  ElasticJob tight({.speedup_ratio = 0.8, .interval_epochs = 2, .memory_limit_bytes = limit},
                   {{.profile = profile(), .overhead = kNoOverhead}});
  tight.go(1);
  EXPECT_LE(tight.trainer.intervals().at(0).planned_bytes, limit);
}

// There is time for all but one bias, which is as good as full training's memory: the first layer
// is left out where it hardly matters, as one that learns slowly.
TEST(ElasticTrainer, LeavesOutFirstLayersForMemory) {
  const ModelDescription plain =
      testing::ModelBuilder({kFeatures}).fc(64).relu().fc(64).relu().fc(3).model();
  TimingProfile timing = profile(plain);
  timing.forward += 300;
  for (LayerTiming& layer : timing.layers) {
    for (WeightTiming& w : layer.weights) {
      if (w.name == "fully_connected2.bias") w.apply = 20;
    }
  }
  timing.step =
      predicted_step(timing, build_graph(training_plan_input(plain, nullptr, config()).model, 8),
                     all_weights(timing));
  const auto selection = [&](double rate_factor) {
    TrainerConfig c = config();
    c.rate_factors["fully_connected0"] = rate_factor;
    ElasticJob job({.speedup_ratio = 0.95, .pace = Pace::kEven, .interval_epochs = 2},
                   {{.profile = timing, .overhead = kNoOverhead}}, c, plain);
    job.go(1);
    return job.trainer.intervals().at(0).selection;
  };
  std::set<std::string> all = all_weights(timing);
  all.erase("fully_connected2.bias");
  EXPECT_EQ(selection(1), all);
  all.erase("fully_connected0.weight");
  all.erase("fully_connected0.bias");
  EXPECT_EQ(selection(1e-3), all);
}

// What a run of this rho may keep on disk: everything.
ElasticConfig with_maps(double rho) {
  ElasticConfig elastic;
  elastic.speedup_ratio = rho;
  elastic.interval_epochs = 2;
  elastic.maps = {std::filesystem::temp_directory_path(), 1 << 20};
  return elastic;
}

std::vector<ProfileInForce> as_told() { return {{.profile = profile(), .overhead = kNoOverhead}}; }

// Stopped after any step, saved, and gone on in objects that know the file and the intervals.
void expect_same_bits_when_resumed(const ElasticConfig& elastic,
                                   const TrainerConfig& c = config()) {
  ElasticJob whole(elastic, as_told(), c);
  EXPECT_TRUE(whole.go());
  const auto file =
      std::filesystem::temp_directory_path() / ("moil_elastic_" + std::to_string(::getpid()));
  for (std::int64_t stop = 1; stop < kSteps; ++stop) {
    ElasticJob first(elastic, as_told(), c);
    EXPECT_FALSE(first.go(stop));
    save_checkpoint(file, "", first.trainer.persistent());
    ElasticJob second(elastic, as_told(), c);
    second.trainer.resume(first.trainer.intervals(), first.trainer.state());
    const auto tensors = second.trainer.persistent();
    Checkpoint::load(file)->restore(tensors);
    second.trainer.weights_changed();
    EXPECT_TRUE(second.go());
    expect_same(second.weights(), whole.weights());
    ASSERT_EQ(second.trainer.intervals().size(), whole.trainer.intervals().size());
    for (std::size_t i = 0; i < whole.trainer.intervals().size(); ++i) {
      EXPECT_EQ(second.trainer.intervals()[i].selection, whole.trainer.intervals()[i].selection);
      EXPECT_EQ(second.trainer.intervals()[i].cut, whole.trainer.intervals()[i].cut);
    }
  }
  std::filesystem::remove(file);
}

// A tensor that is chosen late, or comes back, goes on with its own count: Adam's moments are of
// its own steps.
TEST(ElasticTrainer, EachTensorCountsItsOwnSteps) {
  TrainerConfig c = config();
  c.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 0.01};
  ElasticJob job(0.5, c);
  EXPECT_TRUE(job.go());
  const auto steps = updates_of(job.trainer.intervals(), kSteps);
  EXPECT_EQ(job.trainer.state().updates, steps);
  const auto fewer = [](const auto& weight) { return weight.second < kSteps; };
  EXPECT_TRUE(std::ranges::any_of(steps, fewer));
}

TEST(ElasticTrainer, AResumedRunWithAdamGivesTheSameBits) {
  TrainerConfig c = config();
  c.optimizer = {.kind = OptimizerKind::kAdamw, .learning_rate = 0.01, .weight_decay = 1e-3};
  expect_same_bits_when_resumed({.speedup_ratio = 0.5, .interval_epochs = 1}, c);
}

// The state's seconds are those of all steps together, whichever interval they were of.
TEST(ElasticTrainer, AResumedRunKeepsWhatFinishedIntervalsTook) {
  const ElasticConfig elastic{.speedup_ratio = 0.5, .interval_epochs = 2};
  ElasticJob first(elastic, as_told());
  EXPECT_FALSE(first.go(kSteps - 3));
  const std::vector<ElasticInterval> before = first.trainer.intervals();
  ASSERT_GE(before.size(), 3U);
  TrainState state = first.trainer.state();
  ElasticJob second(elastic, as_told());
  second.trainer.resume(before, state);
  for (std::size_t i = 0; i + 1 < before.size(); ++i) {
    EXPECT_GT(before[i].measured_step_seconds, 0) << i;
    EXPECT_EQ(second.trainer.intervals()[i].measured_step_seconds, before[i].measured_step_seconds)
        << i;
  }
}

TEST(ElasticTrainer, AResumedRunGivesTheSameBits) {
  expect_same_bits_when_resumed({.speedup_ratio = 0.5, .interval_epochs = 2});
}

TEST(ElasticTrainer, AResumedRunMakesTheSameMapsAgain) {
  expect_same_bits_when_resumed(with_maps(0.5));
}

// Which takes less time, so that the beginning has more.
TEST(ElasticTrainer, TheEndOfARunBeginsBehindWhatDoesNotLearn) {
  const double rho = 0.5;
  ElasticJob job(with_maps(rho), as_told()), without(rho);
  EXPECT_FALSE(job.go(kSteps - 1));
  const WeightMap before = job.weights();
  EXPECT_TRUE(job.go());
  EXPECT_TRUE(without.go());
  const auto &intervals = job.trainer.intervals(), &others = without.trainer.intervals();
  ASSERT_EQ(intervals.size(), 3U);
  EXPECT_EQ(intervals[0].cut, "");
  EXPECT_EQ(intervals[1].cut, "relu1");
  EXPECT_GT(intervals[1].caching_seconds, 0);
  EXPECT_EQ(intervals[2].cut, "relu1");
  EXPECT_EQ(intervals[2].caching_seconds, 0);  // they are there
  EXPECT_LT(intervals[2].step_seconds, profile().forward);
  const WeightMap after = job.weights();
  for (const auto& [name, tensor] : after)  // statistics, too: they lie before the cut
    EXPECT_EQ(tensor.data == before.at(name).data, !name.starts_with("fully_connected2")) << name;
  for (const auto* run : {&intervals, &others}) EXPECT_LE(used_epochs(*run), kEpochs * rho + 1e-9);
  EXPECT_GT(intervals[0].epochs, others[0].epochs);  // of long steps
}

TEST(ElasticTrainer, TheScheduleFollowsTheTime) {
  ElasticJob job(with_maps(0.6), as_told());
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
  ElasticJob whole(with_maps(0.5), as_told()), stopped(with_maps(0.5), as_told());
  EXPECT_TRUE(whole.go());
  int left = 3;
  stopped.may_go_on = [&] { return --left > 0; };
  EXPECT_FALSE(stopped.go());
  EXPECT_LT(stopped.trainer.state().step, kSteps);
  EXPECT_FALSE(stopped.trainer.intervals().back().cut.empty());
  EXPECT_FALSE(stopped.trainer.persistent().empty());
  stopped.may_go_on = {};
  EXPECT_TRUE(stopped.go());
  expect_same(stopped.weights(), whole.weights());
}

TEST(ElasticTrainer, MapsWithoutRoomAreNotMade) {
  ElasticConfig elastic = with_maps(0.5);
  elastic.maps.limit_bytes = 64;
  ElasticJob job(elastic, as_told());
  EXPECT_TRUE(job.go());
  for (const ElasticInterval& interval : job.trainer.intervals()) EXPECT_EQ(interval.cut, "");
}

// Steps of seconds were promised, so the machine has drifted: at the next interval another profile
// is in force, and a run that is given both does the same without measuring.
TEST(ElasticTrainer, ADriftIsMeasuredAndItsReplayGivesTheSameBits) {
  const ElasticConfig elastic{.speedup_ratio = 0.8, .interval_epochs = 2, .follow_speed = true};
  ElasticJob drifted(elastic, {{.profile = scaled(profile(), 1e-9), .overhead = kNoOverhead}});
  EXPECT_TRUE(drifted.go());
  const auto& profiles = drifted.trainer.profiles();
  ASSERT_GE(profiles.size(), 2U);
  EXPECT_EQ(profiles[1].epoch, 2);
  EXPECT_EQ(profiles[1].why, "drift");
  EXPECT_GT(profiles[1].profile.step, 100 * profiles[0].profile.step);
  // What was trained is measured, layer by layer: no longer all the same.
  const auto forward = [&](std::size_t i) { return profiles[1].profile.layers.at(i).forward; };
  EXPECT_NE(forward(0), forward(1));

  ElasticConfig never = elastic;
  never.follow_speed = false;
  ElasticJob replay(never, profiles);
  EXPECT_TRUE(replay.go());
  expect_same(replay.weights(), drifted.weights());
  for (std::size_t i = 0; i < drifted.trainer.intervals().size(); ++i)
    EXPECT_EQ(replay.trainer.intervals()[i].selection, drifted.trainer.intervals()[i].selection);
  EXPECT_EQ(replay.trainer.profiles().size(), profiles.size());
}

// Resumed where an interval has just ended: its steps were another process's.
TEST(ElasticTrainer, ADriftThatWasNotWatchedScalesTheProfile) {
  const ElasticConfig elastic{.speedup_ratio = 0.8, .interval_epochs = 2, .follow_speed = true};
  const ProfileInForce promised{.profile = scaled(profile(), 1e-9), .overhead = kNoOverhead};
  ElasticJob first(elastic, {promised}), second(elastic, {promised});
  EXPECT_FALSE(first.go(kSteps / 3));
  second.trainer.resume(first.trainer.intervals(), first.trainer.state());
  EXPECT_TRUE(second.go());
  ASSERT_GE(second.trainer.profiles().size(), 2U);
  const TimingProfile& now = second.trainer.profiles()[1].profile;
  EXPECT_EQ(now.layers.at(0).forward, now.layers.at(1).forward);
}

// Measured with the first choice, and from then on an input as the profile is: a run that is given
// it selects the same.
TEST(ElasticTrainer, AnOverheadIsMeasuredOnceAndKept) {
  const ElasticConfig elastic{.speedup_ratio = 0.6, .interval_epochs = 2};
  ElasticJob measured(elastic, {{.profile = scaled(profile(), 1e-5)}});
  EXPECT_TRUE(measured.go());
  const auto& profiles = measured.trainer.profiles();
  ASSERT_EQ(profiles.size(), 1U);
  ASSERT_TRUE(profiles[0].overhead.has_value());
  EXPECT_GT(profiles[0].overhead->read, 0);
  EXPECT_GT(profiles[0].overhead->probe, 0);
  EXPECT_GT(profiles[0].overhead->choose, profiles[0].overhead->probe);

  ElasticJob replay(elastic, profiles);
  EXPECT_TRUE(replay.go());
  EXPECT_EQ(replay.trainer.profiles()[0].overhead->read, profiles[0].overhead->read);
  expect_same(replay.weights(), measured.weights());
}

// Six steps of 8 samples an epoch; the times are the profile's seconds.
TEST(ElasticTrainer, WhatReadingAndChoosingTakeIsNotTrainedIn) {
  const double rho = 0.8, full = profile().step;
  const ElasticOverhead overhead{.read = 2, .choose = 12 * 2};
  const ElasticConfig even{.speedup_ratio = rho, .pace = Pace::kEven, .interval_epochs = 2};
  ElasticJob job(even, {{.profile = profile(), .overhead = overhead}});
  EXPECT_TRUE(job.go());
  for (const ElasticInterval& interval : job.trainer.intervals())
    EXPECT_LE(interval.step_seconds + 2, rho * (full + 2));
  ElasticJob free(even, {{.profile = profile(), .overhead = kNoOverhead}});
  EXPECT_FALSE(free.go(1));
  EXPECT_LT(job.trainer.intervals()[0].step_seconds - 2, free.trainer.intervals()[0].step_seconds);
}

// However long the rest of a choice takes.
TEST(ElasticTrainer, ProbesWhereThatTakesLessThanAHundredthOfWhatIsTrained) {
  const double run = 0.6 * profile().step * kSteps;
  const ElasticConfig elastic{.speedup_ratio = 0.6, .interval_epochs = 2};
  const auto probing = [&](double share) {
    return ElasticOverhead{.choose = 0.01 * run, .probe = share * run};
  };
  ElasticJob dear(elastic, {{.profile = profile(), .overhead = probing(0.007)}});
  EXPECT_TRUE(dear.go());
  const auto& intervals = dear.trainer.intervals();
  ASSERT_EQ(intervals.size(), 3U);
  EXPECT_GT(intervals[0].probe_seconds, 0);
  for (const std::size_t i : {1, 2}) {
    EXPECT_EQ(intervals[i].probe_seconds, 0);
    EXPECT_EQ(intervals[i].importance, intervals[0].importance);
    EXPECT_FALSE(intervals[i].selection.empty());
  }
  ElasticJob cheap(elastic, {{.profile = profile(), .overhead = probing(0.001)}});
  EXPECT_TRUE(cheap.go());
  for (const ElasticInterval& interval : cheap.trainer.intervals())
    EXPECT_GT(interval.probe_seconds, 0);
}

TEST(ElasticTrainer, RefusesWhatIsImpossible) {
  const double smallest = smallest_speedup_ratio(profile());
  EXPECT_GT(smallest, profile().forward / profile().step);
  EXPECT_NO_THROW(ElasticJob{smallest});
  try {
    ElasticJob job(smallest - 0.01);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(e.what(), ::testing::HasSubstr("smallest possible"));
  }
  EXPECT_THROW(ElasticJob(0.5, config(), 0), Error);
  TrainerConfig c = config();
  c.batch = 64;
  ElasticJob large(0.5, c);
  EXPECT_THROW(large.go(), Error);
}

}  // namespace
}  // namespace moil
