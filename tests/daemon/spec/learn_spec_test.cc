#include "daemon/spec/learn_spec.h"

#include <gtest/gtest.h>

namespace moil::daemon {
namespace {

JobSpec night() {
  JobSpec spec;
  spec.name = "night";
  spec.model = "pets";
  spec.global = {"/packs/pets", 0.2, std::nullopt};
  spec.freeze.trainable_layers.count = 5;
  spec.cache.dtype = StoredFloats::kBf16;
  spec.seed = 7;
  spec.guard = {0.01, 0.9};
  spec.train.epochs = 30;
  spec.canary = CanarySpec{};
  spec.deadline_seconds = 600;
  return spec;
}

TEST(LearnSpec, AsksForWhatTheLastNightCached) {
  const auto spec = learn_spec({"pets", std::nullopt, ""}, LearnPattern{night(), {}, {}}).value();
  EXPECT_EQ(spec.global.pack, "/packs/pets");
  EXPECT_EQ(spec.global.alpha, 0.2);
  EXPECT_EQ(spec.global.limit, kLearnPackSamples);
  EXPECT_EQ(spec.freeze.trainable_layers.count, 5);
  EXPECT_EQ(spec.cache.dtype, StoredFloats::kBf16);
  EXPECT_EQ(spec.seed, 7U);
  EXPECT_EQ(spec.train.epochs, 0);
  EXPECT_EQ(spec.guard.max_global_drop, 0.01);
  EXPECT_EQ(spec.guard.min_local_accuracy, 0) << "of few samples, none may be held out";
  EXPECT_FALSE(spec.deadline_seconds);
  EXPECT_FALSE(spec.canary);
  EXPECT_TRUE(check_job(spec).empty());
  EXPECT_EQ(job_spec_from_json(to_json(spec)), spec);
}

TEST(LearnSpec, TheClassifierAloneIsBehindTheMapsWhereAllLayersWereTrained) {
  JobSpec deep = night();
  deep.freeze.trainable_layers.count.reset();
  const LearnRequest request{"pets", std::nullopt, ""};
  EXPECT_EQ(learn_spec(request, LearnPattern{deep, {}, {}})->freeze.trainable_layers.count, 1);
  EXPECT_EQ(learn_spec(request, LearnPattern{deep, 50, 50})->freeze.trainable_layers.count, 1);
  EXPECT_EQ(learn_spec(request, LearnPattern{deep, 3, 50})->freeze.trainable_layers.count, 3)
      << "a deadline chose";
}

TEST(LearnSpec, WithoutAJobBeforeThePackIsNamed) {
  EXPECT_FALSE(learn_spec({"pets", std::nullopt, ""}, std::nullopt));
  const auto spec = learn_spec({"pets", {{"our cat"}}, "/packs/other"}, std::nullopt).value();
  EXPECT_EQ(spec.global.pack, "/packs/other");
  EXPECT_EQ(spec.global.alpha, 1);
  EXPECT_EQ(spec.local.labels, (std::vector<std::string>{"our cat"}));
  EXPECT_EQ(learn_spec({"pets", std::nullopt, "/packs/other"}, LearnPattern{night(), {}, {}})
                ->global.pack,
            "/packs/other");
}

}  // namespace
}  // namespace moil::daemon
