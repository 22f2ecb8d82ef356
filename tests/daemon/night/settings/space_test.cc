#include "daemon/night/settings/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/io/model_json.h"
#include "engine/model/freeze.h"

namespace moil::night {
namespace {

ModelDescription shipped(const char* name) {
  return read_model(std::filesystem::path(MOIL_SOURCE_DIR) / "config/models" / name);
}

TEST(SearchSpace, DeepIsCutWhereTheMapIsSmallest) {
  const ModelDescription model = shipped("mobilenet_v2.json");
  const std::vector<Depth> depths = depths_of(model);
  ASSERT_EQ(depths.size(), 4U);
  EXPECT_EQ(depths[0], 1);
  EXPECT_EQ(depths[1], 3);
  EXPECT_EQ(depths[3], std::nullopt);
  const auto elements = [&](int n) {
    std::int64_t product = 1;
    for (const std::int64_t dim : freeze_all_but_last(model, n).split_dims) product *= dim;
    return product;
  };
  for (int n = 12; n <= 16; ++n) EXPECT_LE(elements(*depths[2]), elements(n)) << n;
}

TEST(SearchSpace, ASmallNetworkHasNoAboutSixteenLayers) {
  EXPECT_THAT(depths_of(shipped("lenet5.json")), ::testing::ElementsAre(1, 3, std::nullopt));
}

}  // namespace
}  // namespace moil::night
