#include "daemon/models/smoothed_answers.h"

#include <gmock/gmock.h>

namespace moil::night {
namespace {

using ::testing::ElementsAre;

std::vector<float> of(std::span<const float> answer) { return {answer.begin(), answer.end()}; }

TEST(SmoothedAnswers, AreMeansOverAThirdOfAPart) {
  SmoothedAnswers answers(2, {.hop = 0.25, .length = 1.5, .end = 10, .unit = "seconds"});
  using Row = std::vector<float>;
  EXPECT_THAT(of(answers.add(Row{1, 0.5F})), ElementsAre(1, 0.5F)) << "of what there is";
  EXPECT_THAT(of(answers.add(Row{0, 0.5F})), ElementsAre(0.5F, 0.5F));
  EXPECT_THAT(of(answers.add(Row{0, 0.25F})), ElementsAre(0, 0.375F));
  answers.add_silence();
  EXPECT_THAT(of(answers.add(Row{1, 0.5F})), ElementsAre(0.5F, 0.25F));
  answers.begin_anew();
  EXPECT_THAT(of(answers.add(Row{0.25F, 1})), ElementsAre(0.25F, 1));
}

TEST(SmoothedAnswers, StandForThemselvesIfPartsLieFarApart) {
  for (const double hop : {0.0, 0.6, 1.5}) {
    SmoothedAnswers answers(1, {.hop = hop, .length = 1.5, .end = 10, .unit = "seconds"});
    for (const float p : {0.1F, 0.9F, 0.3F})
      EXPECT_THAT(of(answers.add(std::vector<float>{p})), ElementsAre(p)) << hop;
  }
}

TEST(SmoothedAnswers, OfAShortSoundTheyAreTheMeanOfAllParts) {
  SmoothedAnswers answers(2, {.hop = 0.25, .length = 1.5, .end = 10, .unit = "seconds"});
  EXPECT_TRUE(answers.joined().empty());
  for (const float p : {0.25F, 0.5F, 0.75F, 0.5F}) answers.join(std::vector<float>{p, 1});
  EXPECT_THAT(answers.joined(), ElementsAre(0.5F, 1));
  answers.begin_anew();
  EXPECT_TRUE(answers.joined().empty());
}

}  // namespace
}  // namespace moil::night
