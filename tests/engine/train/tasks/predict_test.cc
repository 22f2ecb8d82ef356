#include "engine/train/tasks/predict.h"

#include <gmock/gmock.h>

#include "tests/engine/model/models.h"
#include "tests/errors.h"

namespace moil {
namespace {

using ::testing::ElementsAre;

using Row = std::vector<float>;

TEST(Predict, LabelsAreNumbers) {
  EXPECT_THAT(numbers_of("-1.5e2", 1), ElementsAre(-150));
  EXPECT_THAT(numbers_of(" 1  2 ", 2), ElementsAre(1, 2));
  for (const char* wrong : {"", "warm", "1 2", "nan", "inf", "1,5", "3cm"})
    test::expect_error(ErrorCode::kInvalidArgument,
                       "\"" + std::string(wrong) + "\" is not a number",
                       [&] { (void)numbers_of(wrong, 1); });
}

TEST(Predict, TargetsAreInDeviationsAndAnswersInTheUsersUnit) {
  const TaskPtr task = predict_task({.mean = {10, 0}, .stddev = {2, 1}});
  const auto targets = task->targets({"14 3", "8 5"}, 2, {});
  Row row(2);
  const std::uint32_t first[] = {0}, both[] = {0, 1};
  targets->write(first, {}, row);
  EXPECT_THAT(row, ElementsAre(2, 3));
  task->answer(row, {});
  EXPECT_THAT(row, ElementsAre(14, 3));
  targets->write(both, {}, row);
  EXPECT_THAT(row, ElementsAre(0.5, 4));  // a sample that was measured twice
  EXPECT_THROW((void)task->targets({"14"}, 2, {}), Error);
  EXPECT_THROW((void)task->targets({"14"}, 1, {}), Error);  // means of two
}

TEST(Predict, ScoresByHand) {
  const TaskPtr task = predict_task({.mean = {100}, .stddev = {10}});
  const auto scorer = task->scorer({});
  EXPECT_FALSE(scorer->scores()[0].value);
  scorer->add(Row{1}, Row{1});
  EXPECT_FALSE(scorer->scores()[0].value);  // one number has no variance
  EXPECT_EQ(scorer->scores()[1].value, 0);
  scorer->add(Row{2}, Row{3});
  // The mean is 2, its squared errors 2, ours 1.
  EXPECT_DOUBLE_EQ(scorer->scores()[0].value.value(), 0.5);
  EXPECT_DOUBLE_EQ(scorer->scores()[1].value.value(), 10 * 0.5);
  EXPECT_FALSE(task->headline().is_fraction);
}

TEST(Predict, QualityIsTheSquaredErrorInDeviations) {
  const auto scorer = predict_task({.mean = {100, 0}, .stddev = {10, 1}})->scorer({});
  EXPECT_FALSE(scorer->quality());
  scorer->add(Row{1, 5}, Row{3, 5});
  scorer->add(Row{0, 1}, Row{0, NAN});
  EXPECT_DOUBLE_EQ(scorer->quality().value(), -(2.0 + 0) / 2);
}

TEST(Predict, LossesFitTheOutput) {
  const auto plain = test::ModelBuilder({4}).fc(1).model();
  EXPECT_EQ(predict_task()->loss(plain).type, "mse");
  EXPECT_EQ(predict_task({.huber_delta = 1})->loss(plain).type, "huber");
  for (const char* ending : {"softmax", "sigmoid"}) {
    const auto model = test::ModelBuilder({4}).fc(2).layer(ending).model();
    EXPECT_THROW((void)predict_task()->loss(model), Error) << ending;
  }
}

}  // namespace
}  // namespace moil
