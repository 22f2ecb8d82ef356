#include "daemon/night/settings/candidate.h"

#include <gtest/gtest.h>

namespace moil::night {
namespace {

using daemon::JobSpec;
using nlohmann::json;

JobSpec job(const json& more = json::object()) {
  json document = {{"name", "n"}, {"model", "m"}, {"global", {{"pack", "/p"}}}};
  document.merge_patch(more);
  return daemon::job_spec_from_json(document);
}

TEST(Candidate, FillsWhatIsOpen) {
  const JobSpec spec = filled(job(), {16, 0.02, 4}, 2800);
  EXPECT_EQ(spec.freeze.trainable_layers.count, 16);
  EXPECT_TRUE(spec.freeze.batch_norms);
  EXPECT_EQ(spec.augment.views, 4);
  EXPECT_EQ(spec.train.optimizer.learning_rate, 0.02);
  EXPECT_EQ(spec.train.epochs, 8);
  EXPECT_TRUE(spec.open.empty());
}

TEST(Candidate, KeepsWhatTheUserSet) {
  const json given = {
      {"freeze", {{"trainable_layers", 3}, {"batch_norms", false}}},
      {"train",
       {{"epochs", 2}, {"batch", 8}, {"optimizer", {{"learning_rate", 0.5}}}, {"clip_norm", 7}}},
      {"augment", {{"views", 2}}}};
  const JobSpec spec = filled(job(given), {1, 0.03, 1, kClassifierSteps}, 2800);
  EXPECT_EQ(spec.freeze.trainable_layers.count, 3);
  EXPECT_FALSE(spec.freeze.batch_norms);
  EXPECT_EQ(spec.train.epochs, 2);
  EXPECT_EQ(spec.train.batch, 8);
  EXPECT_EQ(spec.train.optimizer.learning_rate, 0.5);
  EXPECT_EQ(spec.train.clip_norm, 7);
  EXPECT_EQ(spec.augment.views, 2);
}

TEST(Candidate, SmallSetsAreGoneThroughMoreOften) {
  const auto epochs = [](std::size_t train) {
    return filled(job(), {1, 0.03, 1, kClassifierSteps}, train).train.epochs;
  };
  EXPECT_EQ(epochs(20), 40);
  EXPECT_EQ(epochs(2748), 19);
  EXPECT_EQ(epochs(100000), 4);
}

TEST(Candidate, SettledFieldsAreThoseThatWereOpen) {
  const JobSpec open = job({{"train", {{"epochs", 3}}}});
  const json fields = settled_fields(open, filled(open, {4, 0.02, 1}, 100));
  EXPECT_EQ(fields.at("freeze").at("trainable_layers"), 4);
  EXPECT_FALSE(fields.at("train").contains("epochs"));
  EXPECT_TRUE(settled_fields(job({{"settings", "defaults"}}), job()).empty());
}

TEST(Candidate, IsReadAsItWasWritten) {
  for (const Candidate& c :
       {Candidate{1, 0.03, 1, kClassifierSteps}, Candidate{std::nullopt, 0.1, 4}})
    EXPECT_EQ(candidate_from_json(to_json(c)), c);
  const json earlier = {
      {"layers", 1}, {"learning_rate", 0.1}, {"views", 1}, {"sampling", "importance"}};
  EXPECT_EQ(candidate_from_json(earlier), (Candidate{1, 0.1, 1, kClassifierSteps}));
}

TEST(Candidate, SequencesAreLearnedByAdamUnlessTheJobSaysHowSgdRuns) {
  const TaskPtr sequence = task_from_json({{"task", "sequence"}, {"symbols", 257}});
  const TaskPtr classify = task_from_json(nullptr);
  const auto type_of = [](const json& optimizer, const Task& task) {
    return with_usual_optimizer(job({{"train", {{"optimizer", optimizer}}}}), task)
        .train.optimizer.type;
  };
  using daemon::OptimizerType;
  EXPECT_EQ(type_of(json::object(), *sequence), OptimizerType::kAdam);
  EXPECT_EQ(type_of({{"learning_rate", 0.1}}, *sequence), OptimizerType::kAdam);
  EXPECT_EQ(type_of(json::object(), *classify), OptimizerType::kSgd);
  for (const json& said : std::vector<json>{
           {{"type", "sgd"}}, {{"momentum", 0.8}}, {{"momentum", 0.8}, {"nesterov", true}}})
    EXPECT_EQ(type_of(said, *sequence), OptimizerType::kSgd) << said;
}

}  // namespace
}  // namespace moil::night
