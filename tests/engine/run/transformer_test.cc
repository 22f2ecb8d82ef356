// Freezing and cutting a network of rows and attention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/freeze.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using test::transformer_model;
using ::testing::ElementsAre;

// The patches, the token, the positions; two norms and four products a block; the norm and the
// classifier behind them.
constexpr int kUnits = 3 + 2 * 6 + 2;

std::string split_of(int n) { return freeze_all_but_last(transformer_model(), n).split; }

TEST(TransformerTest, BlocksAreCutWhereOneTensorCarriesEverything) {
  EXPECT_EQ(freeze_all_but_last(transformer_model(), 0).total_units, kUnits);
  EXPECT_EQ(split_of(1), "flatten0");                              // the classifier alone
  EXPECT_EQ(split_of(2), "add3");                                  // and its norm
  for (const int n : {3, 4}) EXPECT_EQ(split_of(n), "add2") << n;  // inside the last MLP
  EXPECT_EQ(split_of(5), "add2");
  for (const int n : {6, 7, 8}) EXPECT_EQ(split_of(n), "add1") << n;  // inside the last attention
  EXPECT_EQ(split_of(8 + 6), "add_parameter0");
  EXPECT_EQ(split_of(8 + 7), "prepend_parameter0");
  EXPECT_EQ(split_of(8 + 8), "permute0");
  EXPECT_EQ(split_of(kUnits), "");
  EXPECT_THAT(freeze_all_but_last(transformer_model(), 2).split_dims, ElementsAre(5, 8));
}

// What is prepared for inference computes the same, and a sample does not depend on its batch.
TEST(TransformerTest, InferenceIsTheSame) {
  const ModelDescription model = transformer_model();
  WeightMap weights = test::random_weights(model, 1);
  const std::vector<float> image = test::random_values(3 * 3 * 8 * 8, 2);
  const std::vector<float> plain = test::infer(model, weights, 3, image);
  const ModelDescription prepared = prepare_inference(model, weights);
  const std::vector<float> three = test::infer(prepared, weights, 3, image);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(three[i], plain[i], 1e-5);
  const std::vector<float> last(image.end() - 3 * 8 * 8, image.end());
  EXPECT_EQ(test::infer(prepared, weights, 1, last),
            (std::vector<float>{three.end() - 3, three.end()}));
}

// Rows of rank 4 would be read as an image by the head.
TEST(TransformerTest, NoCutThroughWhatAnInputCannotBe) {
  test::ModelBuilder b({3, 4, 4});
  b.conv(4, 3).layer("permute", {{"order", std::vector<std::int64_t>{0, 2, 3, 1}}}).fc(2);
  const Freeze freeze = freeze_all_but_last(b.model(), 1);
  EXPECT_EQ(freeze.split, "conv2d0");
}

}  // namespace
}  // namespace moil
