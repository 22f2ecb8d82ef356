#include "datasets/labels/something_else.h"

#include <string>
#include <vector>

#include "tests/datasets/labels/store_fixture.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;

const std::string kNone(kSomethingElse);

class SomethingElseTest : public test::StoreFixture {};

TEST_F(SomethingElseTest, IsALabelAsAnyOtherAndASamplesOnlyOne) {
  const Digest stranger = add("stranger", {kNone}), cat = add("cat", {"cat"});
  EXPECT_THAT(labels_of(stranger), ElementsAre(kNone));
  EXPECT_EQ(store_.labels().size(), 2u);
  const std::vector<std::string> both = {"cat", kNone};
  const auto refused = [&](auto what) {
    expect_error(ErrorCode::kInvalidArgument, {"'something else'", "alone"}, what);
  };
  refused([&] { add("new", both); });
  refused([&] { store_.relabel(cat, both); });
  refused([&] { store_.assign(std::vector{cat}, both); });
  EXPECT_THAT(labels_of(cat), ElementsAre("cat"));
}

TEST_F(SomethingElseTest, StandsForNothingAndNothingIsRenamedToIt) {
  add("stranger", {kNone});
  const Digest pet = add("pet", {"pet"});
  const std::vector<std::string> cat = {"cat"};
  expect_error(ErrorCode::kInvalidArgument, {"'something else'"},
               [&] { store_.set_reconciliation(kNone, cat); });
  store_.set_reconciliation(kNone, {});  // there is nothing to remove
  expect_error(ErrorCode::kInvalidArgument, {"'something else'", "label merge"},
               [&] { store_.rename_label("pet", kNone); });
  EXPECT_THAT(labels_of(pet), ElementsAre("pet"));
}

TEST_F(SomethingElseTest, TakesALabelsSamplesButNotThoseOfOthersNorWhatItMeans) {
  const Digest alone = add("alone", {"pet"}), two = add("two", {"dog", "pet"});
  const std::vector<std::string> cat = {"cat"};
  store_.set_reconciliation("pet", cat);
  store_.merge_label("pet", kNone);
  EXPECT_THAT(labels_of(alone), ElementsAre(kNone));
  EXPECT_THAT(labels_of(two), ElementsAre("dog"));
  EXPECT_TRUE(store_.reconciliation().empty());
  store_.undo({}, {});
  EXPECT_THAT(labels_of(alone), ElementsAre("pet"));
  EXPECT_THAT(labels_of(two), ElementsAre("dog", "pet"));
  EXPECT_EQ(store_.reconciliation().at("pet"), cat);
}

}  // namespace
}  // namespace moil::data
