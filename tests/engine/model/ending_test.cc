#include "engine/model/ending.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using test::ModelBuilder;

ModelBuilder convolutional() {
  ModelBuilder b({3, 4, 4});
  b.conv(6, 1).layer("global_average_pool", {{"keep_dims", true}});
  return b;
}

TEST(EndingTest, LogitsAreWhatNothingMakesProbabilitiesOf) {
  EXPECT_EQ(ending_of(test::chain_model()).kind, Ending::kLogits);
  EXPECT_EQ(ending_of(ModelBuilder({4}).fc(3).relu().model()).kind, Ending::kLogits);
  // A gate's sigmoid is not at the end.
  EXPECT_EQ(ending_of(ModelBuilder({4}).fc(3).layer("sigmoid").fc(2).model()).kind,
            Ending::kLogits);
  EXPECT_FALSE(answers_probabilities(test::chain_model()));
  EXPECT_EQ(fitting_loss(test::chain_model()).type, "softmax_cross_entropy");
}

TEST(EndingTest, SigmoidsAreFoundBehindWhatMovesElementsAlone) {
  for (const char* mover : {"", "flatten", "identity"}) {
    ModelBuilder b = convolutional();
    b.layer("sigmoid", {}, {}, "probabilities");
    if (*mover != '\0') b.layer(mover);
    const ModelDescription model = b.model();
    EXPECT_EQ(ending_of(model).kind, Ending::kSigmoid) << mover;
    EXPECT_EQ(ending_of(model).layer, "probabilities") << mover;
    EXPECT_TRUE(answers_probabilities(model)) << mover;
    EXPECT_EQ(fitting_loss(model).type, "sigmoid_cross_entropy") << mover;
    EXPECT_NO_THROW(check_ending(model));
  }
}

TEST(EndingTest, SoftmaxIsOverAllClasses) {
  EXPECT_EQ(ending_of(convolutional().layer("softmax").layer("flatten").model()).kind,
            Ending::kSoftmax);
  EXPECT_EQ(ending_of(ModelBuilder({4}).fc(3).layer("softmax").model()).kind, Ending::kSoftmax);
  // Each pixel's: no loss trains their mean.
  const ModelDescription pixels =
      ModelBuilder({3, 4, 4}).conv(6, 1).layer("softmax").layer("global_average_pool").model();
  EXPECT_EQ(ending_of(pixels).kind, Ending::kOther);
}

TEST(EndingTest, ProbabilitiesThatNoLossHasInsideAreRefused) {
  for (const ModelDescription& model :
       {ModelBuilder({4}).fc(3).layer("sigmoid").layer("scale", {{"factor", 2.0}}).model(),
        ModelBuilder({4}).fc(3).layer("hard_sigmoid").model(),
        ModelBuilder({4}).fc(3).layer("sigmoid").layer("clip", {{"min", 0.1}}).model()}) {
    EXPECT_THROW(check_ending(model), Error);
    EXPECT_FALSE(answers_probabilities(model));
  }
}

}  // namespace
}  // namespace moil
