#include "daemon/study/name_likeness.h"

#include <gtest/gtest.h>

namespace moil::night {
namespace {

TEST(NameLikeness, IsThePartOfTheWordsThatBothHave) {
  EXPECT_EQ(name_likeness("lemon", "Lemon"), 1);
  EXPECT_EQ(name_likeness("Granny Smith", "granny-smith"), 1);
  EXPECT_EQ(name_likeness("carrots", "carrot"), 1);
  EXPECT_NEAR(name_likeness("red-bell-pepper", "bell pepper"), 2.0 / 3, 1e-12);
  EXPECT_EQ(name_likeness("orange", "lemon"), 0);
  EXPECT_EQ(name_likeness("gas", "ga"), 0) << "a short word has no plural";
  EXPECT_EQ(name_likeness("", "--"), 0);
  EXPECT_EQ(name_likeness("kött", "Kött"), 1);
}

}  // namespace
}  // namespace moil::night
