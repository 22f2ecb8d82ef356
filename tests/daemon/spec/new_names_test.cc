#include "daemon/spec/new_names.h"

#include <gtest/gtest.h>

#include "daemon/spec/job_spec.h"

namespace moil::daemon {
namespace {

TEST(NewNames, AreNoOptionsAndHoldNothingThatHides) {
  EXPECT_FALSE(check_name("-x")) << "a model that is called so can still be removed";
  EXPECT_TRUE(check_new_name("-x"));
  EXPECT_FALSE(check_new_name("x-"));
  for (const char* bad : {"-x", "a\xc2\x85",
                          "a\xe2\x80\xae"
                          "b",
                          "a\x1b[2J"})
    EXPECT_TRUE(check_new_title(bad)) << bad;
  EXPECT_FALSE(
      check_new_title("the night of \xc3\xbc"
                      "bungen"));
}

}  // namespace
}  // namespace moil::daemon
