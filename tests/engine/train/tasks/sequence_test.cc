#include "engine/train/tasks/sequence.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json/json.h"
#include "tests/errors.h"

namespace moil {
namespace {

using ::testing::ElementsAre;

using Row = std::vector<float>;

// Of 3 places that say which of 4 symbols comes next, the last of them padding.
ModelDescription sequence_model(std::int64_t symbols) {
  return {
      "next",
      {{"symbols", {3}, ElementType::kInt32}},
      {{"table", "embedding", {"symbols"}, {{"rows", std::int64_t{4}}, {"width", std::int64_t{2}}}},
       {"out", "fully_connected", {"table"}, {{"units", symbols}}}},
      {"out"}};
}

TEST(Sequence, TheTargetOfAPlaceIsTheSymbolBehindIt) {
  const TaskPtr task = sequence_task(4);
  EXPECT_TRUE(task->teaches_itself());
  const auto targets = task->targets({}, 12, {});
  Row target(12, 7);
  targets->write_shown(Row{1, 0, 2}, target);
  EXPECT_THAT(target, ElementsAre(1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0));
  targets->write_shown(Row{1, 3, 3}, target);
  EXPECT_THAT(target, ::testing::Each(0)) << "padding comes next of nothing";
  sequence_task(4, 1)->targets({}, 12, {})->write_shown(Row{0, 3, 1}, target);
  EXPECT_THAT(target, ElementsAre(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)) << "padding is named";
}

TEST(Sequence, ScoresByHand) {
  const TaskPtr task = sequence_task(4);
  const auto scorer = task->scorer({});
  EXPECT_FALSE(scorer->scores()[0].value);
  EXPECT_FALSE(scorer->quality());
  // Probabilities 1/2, 1/4, 1/8, 1/8, then all alike; the last place has no target.
  const float l = std::log(2.0F);
  scorer->add(Row{3 * l, 2 * l, l, l, 0, 0, 0, 0, 9, 0, 0, 0},
              Row{0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0});
  const auto scores = scorer->scores();
  EXPECT_EQ(scores[0].name, "bits_per_symbol");
  EXPECT_NEAR(scores[0].value.value(), 2, 1e-6);
  EXPECT_NEAR(scores[1].value.value(), 4, 1e-5);
  EXPECT_DOUBLE_EQ(scores[2].value.value(), 0);
  EXPECT_NEAR(scorer->quality().value(), -2, 1e-6);
  EXPECT_FALSE(task->headline().higher_is_better);
  EXPECT_GT(task->headline().loss_between(2, 2.5), 0);

  const auto of_probabilities = task->scorer({.probabilities = true});
  of_probabilities->add(Row{0.5, 0.25, 0.125, 0.125}, Row{1, 0, 0, 0});
  EXPECT_NEAR(of_probabilities->scores()[0].value.value(), 1, 1e-6);
  EXPECT_DOUBLE_EQ(of_probabilities->scores()[2].value.value(), 1);
}

TEST(Sequence, AnswersAreProbabilitiesOfEachPlace) {
  const TaskPtr task = sequence_task(2);
  Row answer = {0, 0, std::log(3.0F), 0};
  task->answer(answer, {});
  EXPECT_THAT(answer, ::testing::Pointwise(::testing::FloatEq(), Row{0.5, 0.5, 0.75, 0.25}));
  task->harden(answer, {});
  task->soften(answer, {});
  EXPECT_THAT(answer, ::testing::Pointwise(::testing::FloatNear(1e-6F), Row{0.5, 0.5, 0.75, 0.25}));
}

TEST(Sequence, AModelTellsAsManySymbolsAtEachPlace) {
  EXPECT_EQ(sequence_task(4)->loss(sequence_model(4)).type, "softmax_cross_entropy");
  test::expect_error(ErrorCode::kInvalidArgument, "expected 4 symbols at each place",
                     [&] { (void)sequence_task(4)->loss(sequence_model(5)); });
  ModelDescription of_one_place = sequence_model(4);
  of_one_place.layers.push_back({"flat", "flatten", {"out"}, {}});
  of_one_place.outputs = {"flat"};
  EXPECT_THROW((void)sequence_task(4)->loss(of_one_place), Error);
  ModelDescription sigmoids = sequence_model(4);
  sigmoids.layers.push_back({"own", "sigmoid", {"out"}, {}});
  sigmoids.outputs = {"own"};
  test::expect_error(ErrorCode::kInvalidArgument, "\"own\"",
                     [&] { (void)sequence_task(4)->loss(sigmoids); });
}

TEST(Sequence, ADescriptionReadsBack) {
  for (const TaskPtr& task : {sequence_task(257), sequence_task(5, 1), sequence_task(5, 4)})
    EXPECT_EQ(task_from_json(task->to_json())->to_json(), task->to_json());
  EXPECT_FALSE(sequence_task(5, 4)->to_json().contains("padding")) << "the last one is";
  for (const char* wrong : {R"({"task": "sequence"})", R"({"task": "sequence", "symbols": 1})",
                            R"({"task": "sequence", "symbols": "many"})",
                            R"({"task": "sequence", "symbols": 4, "padding": 4})",
                            R"({"task": "sequence", "symbols": 4, "padding": -1})",
                            R"({"task": "sequence", "symbols": 4, "padding": 0.5})",
                            R"({"task": "sequence", "symbols": 4, "silence": 3})"})
    EXPECT_THROW((void)task_from_json(parsed_json(wrong)), Error) << wrong;
}

}  // namespace
}  // namespace moil
