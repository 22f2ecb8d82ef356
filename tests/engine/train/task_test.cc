#include "engine/train/task.h"

#include <gmock/gmock.h>

#include "base/json/json.h"
#include "engine/model/initial_weights.h"
#include "engine/train/evaluate.h"
#include "engine/train/trainer.h"
#include "tests/engine/train/toy_source.h"
#include "tests/errors.h"

namespace moil {
namespace {

using ::testing::HasSubstr;

std::string task_refusal(const Json& description) {
  return test::error_of([&] { (void)task_from_json(description); });
}

TEST(Task, DescriptionsReadBack) {
  const Json descriptions[] = {
      {{"task", "classify"}},
      {{"task", "tag"}},
      {{"task", "tag"}, {"unnamed", "absent"}, {"thresholds", {0.5, 0.2}}},
      {{"task", "predict"}},
      {{"task", "predict"}, {"mean", {1.5, 2}}, {"stddev", {0.5, 3}}, {"huber_delta", 1.0}}};
  for (const Json& description : descriptions)
    EXPECT_EQ(task_from_json(description)->to_json(), description);
  EXPECT_EQ(task_from_json(nullptr)->name(), "classify");
}

TEST(Task, WhatIsWrongIsNamed) {
  EXPECT_THAT(task_refusal({{"task", "guess"}}), HasSubstr("known tasks: classify"));
  EXPECT_THAT(task_refusal({{"name", "tag"}}), HasSubstr("\"task\""));
  EXPECT_THAT(task_refusal(Json::array()), HasSubstr("an object"));
  EXPECT_THAT(task_refusal({{"task", "classify"}, {"mean", 1}}), HasSubstr("no \"mean\""));
  EXPECT_THAT(task_refusal({{"task", "tag"}, {"unnamed", true}}), HasSubstr("unnamed"));
  EXPECT_THAT(task_refusal({{"task", "tag"}, {"thresholds", {0.5, 2}}}), HasSubstr("from 0 to 1"));
  EXPECT_THAT(task_refusal({{"task", "tag"}, {"thresholds", 0.5}}), HasSubstr("list"));
  EXPECT_THAT(task_refusal({{"task", "predict"}, {"stddev", {0}}}), HasSubstr("above 0"));
  EXPECT_THAT(task_refusal({{"task", "predict"}, {"mean", {1, 2}}, {"stddev", {1}}}),
              HasSubstr("2 means"));
  EXPECT_THAT(task_refusal({{"task", "predict"}, {"mean", {"x"}}}), HasSubstr("no number"));
  EXPECT_THAT(task_refusal({{"task", "predict"}, {"huber_delta", -1}}), HasSubstr("huber_delta"));
}

// A task of a user's own, through what the headers offer: which of the classes, in their order,
// a sample is of; one class too far is half right.
class Rank final : public Task {
 public:
  std::string_view name() const override { return "rank"; }
  Json to_json() const override { return {{"task", "rank"}}; }
  LossDescription loss(const ModelDescription&) const override { return {"mse"}; }
  bool outputs_are_labels() const override { return true; }
  std::unique_ptr<Targets> targets(const std::vector<std::string>&, std::size_t,
                                   std::span<const std::uint32_t>) const override {
    return std::make_unique<OneHot>();
  }
  void soften(std::span<float>, OutputForm) const override {}
  void harden(std::span<float>, OutputForm) const override {}
  void answer(std::span<float>, OutputForm) const override {}
  std::vector<std::uint32_t> said(std::span<const float> output, OutputForm) const override {
    return {static_cast<std::uint32_t>(place(output))};
  }
  Metric headline() const override { return {.name = "distance", .higher_is_better = false}; }
  bool compares_samples() const override { return false; }
  std::unique_ptr<Scorer> scorer(OutputForm) const override { return std::make_unique<Distance>(); }

 private:
  static std::ptrdiff_t place(std::span<const float> row) {
    return std::ranges::max_element(row) - row.begin();
  }
  struct OneHot : Targets {
    void write(std::span<const std::uint32_t> labels, std::span<const std::uint32_t>,
               std::span<float> target) const override {
      std::ranges::fill(target, 0.0F);
      target[labels[0]] = 1;
    }
  };
  struct Distance : Scorer {
    void add(std::span<const float> output, std::span<const float> target) override {
      sum += std::abs(static_cast<double>(place(output) - place(target)));
      ++count;
    }
    std::vector<Score> scores() const override { return {{"distance", sum / count}}; }
    double sum = 0, count = 0;
  };
};

TEST(Task, AnotherOneTrainsAndIsJudged) {
  register_task("rank", [](const Json&) { return std::make_shared<Rank>(); });
  EXPECT_THROW(register_task("rank", {}), Error);
  EXPECT_THAT(task_names(), ::testing::Contains("rank"));
  const TaskPtr task = task_from_json({{"task", "rank"}});
  const ModelDescription model = test::ModelBuilder({9}).fc(16).relu().fc(3).model();
  TrainerConfig config;
  config.loss = task->loss(model);
  config.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 0.01};
  config.batch = 6;
  config.epochs = 20;
  KernelSelector kernels = test::fixed_kernels();
  test::ToySource source(60, 9), held_out(60, 9, 77);
  Trainer trainer(model, nullptr, config, kernels);
  trainer.allocate(initial_weights(build_graph(model, 1), 1));
  const auto distance = [&] {
    WeightMap weights;
    trainer.network().save(weights);
    Network judged(model, {.batch = 8, .plan = {}}, kernels);
    judged.allocate();
    judged.load(weights);
    return evaluate(judged, held_out, *task)[0].value.value();
  };
  const double before = distance();
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t epoch) { return test::rotated(60, epoch); };
  trainer.run(source, callbacks);
  EXPECT_GT(task->headline().loss_between(distance(), before), 0);
}

}  // namespace
}  // namespace moil
