#include "engine/layers/factory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "engine/layers/identity.h"

namespace moil {
namespace {

TEST(Factory, EveryTypeSaysItsName) {
  const auto types = layer_types();
  EXPECT_GE(types.size(), 26U);
  for (const auto& type : types) {
    Properties properties;
    if (type == "conv2d") properties = {{"out_channels", std::int64_t{3}}};
    if (type == "fully_connected") properties = {{"units", std::int64_t{3}}};
    if (type == "conv2d" || type.ends_with("_pool")) properties["kernel"] = std::int64_t{3};
    if (type == "global_average_pool") properties.clear();
    if (type == "add_parameter" || type == "multiply_parameter" || type == "reshape")
      properties["dims"] = std::vector<std::int64_t>{3};
    if (type == "permute") properties["order"] = std::vector<std::int64_t>{0, 2, 1};
    if (type == "slice") properties["length"] = std::int64_t{1};
    if (type == "pad") properties["begin"] = properties["end"] = std::vector<std::int64_t>{1};
    if (type == "multi_out") properties = {{"outputs", std::int64_t{2}}};
    if (type == "users_own" || type == "square" || type == "learned_clip" || type == "lifespans")
      continue;  // of other tests
    EXPECT_EQ(make_layer(type, "x", properties)->type(), type);
  }
}

TEST(Factory, UnknownTypeNamesTheKnownOnes) {
  try {
    (void)make_layer("convolution", "stem", {});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    const std::string text = e.what();
    EXPECT_NE(text.find("\"stem\""), std::string::npos);
    EXPECT_NE(text.find("\"convolution\""), std::string::npos);
    EXPECT_NE(text.find("conv2d"), std::string::npos);
  }
}

TEST(Factory, TakesUsersOwnLayers) {
  register_layer("users_own", make_identity);
  EXPECT_NE(make_layer("users_own", "x", {}), nullptr);
  const auto types = layer_types();
  EXPECT_NE(std::find(types.begin(), types.end(), "users_own"), types.end());
}

}  // namespace
}  // namespace moil
