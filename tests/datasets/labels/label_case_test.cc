// Labels that differ in case alone.
#include <string>
#include <vector>

#include "datasets/labels/label_store.h"
#include "datasets/labels/text.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using Names = std::vector<std::string>;

TEST(WithoutCase, IsTheSameForTextsThatDifferInItAlone) {
  EXPECT_EQ(without_case("Cat"), without_case("cAT"));
  EXPECT_EQ(without_case("\u00dcBUNG"), without_case("U\u0308bung"));
  EXPECT_EQ(without_case("STRASSE"), without_case("Stra\u00dfe"));
  EXPECT_EQ(without_case("\u039f\u03b4\u03cc\u03c2"), without_case("\u039f\u0394\u038c\u03a3"));
  EXPECT_NE(without_case("cat"), without_case("cats"));
  EXPECT_EQ(without_case("7"), "7");
}

class LabelCaseTest : public ::testing::Test {
 protected:
  LabelCaseTest() { store_.add_sample(test::bytes_of(test::photo("one")), Names{"Übung", "cat"}); }
  std::string asked(const Names& names, const std::string& gone = {}) {
    try {
      store_.check_case(names, gone);
    } catch (const OtherCase& refused) {
      return refused.given + "/" + refused.label;
    }
    return "";
  }
  test::TempFolder folder_;
  LabelStore store_{folder_ / "labels", LabelStore::Access::kReadWrite};
};

TEST_F(LabelCaseTest, IsAskedForIfALabelIsNew) {
  EXPECT_EQ(asked({"cat", "dog", "Übung"}), "");
  EXPECT_EQ(asked({"dog", "CAT"}), "CAT/cat");
  EXPECT_EQ(asked({"U\u0308BUNG"}), "\u00dcBUNG/Übung");
  EXPECT_EQ(asked({"dog", "Dog"}), "Dog/dog");
  EXPECT_EQ(asked({"something else"}), "");
  EXPECT_EQ(asked({"Something Else"}), "Something Else/something else");
  EXPECT_EQ(asked({}), "");
}

TEST_F(LabelCaseTest, OfALabelThatGoesNobodyIsAsked) {
  EXPECT_EQ(asked({"Cat"}, "cat"), "");
  EXPECT_EQ(asked({"Cat"}, "Übung"), "Cat/cat");
}

}  // namespace
}  // namespace moil::data
