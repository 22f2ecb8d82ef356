#include "datasets/labels/denial.h"

#include <string>
#include <vector>

#include "datasets/labels/something_else.h"
#include "datasets/readers/label_dataset.h"
#include "datasets/samples/subset.h"
#include "tests/datasets/labels/store_fixture.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DenialTest : public test::StoreFixture {
 protected:
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const LabelCount& label : store_.labels()) names.push_back(label.name);
    return names;
  }
  void refused(const std::vector<std::string>& words, const std::vector<std::string>& labels) {
    expect_error(ErrorCode::kInvalidArgument, words, [&] { add("refused", labels); });
  }
};

TEST(Denial, IsReadAsNot) {
  EXPECT_EQ(denial_of("cat"), "!cat");
  EXPECT_EQ(without_denial("!cat"), "cat");
  EXPECT_EQ(without_denial("cat"), "cat");
  EXPECT_EQ(spoken_label("!cat"), "not cat");
  EXPECT_EQ(spoken_label("cat!"), "cat!");
}

TEST_F(DenialTest, IsALabelOfASampleBesideOthers) {
  const Digest table = add("table", {"!dog", "!cat"}), dog = add("dog", {"dog", "!cat"});
  EXPECT_THAT(labels_of(table), ElementsAre("!cat", "!dog"));
  EXPECT_THAT(labels_of(dog), ElementsAre("!cat", "dog"));
  EXPECT_EQ(store_.counts().labels, 1U) << "denials are no labels";
  EXPECT_EQ(store_.counts().unlabelled, 0U);
  refused({"'cat'", "not 'cat'"}, {"cat", "!cat"});
  refused({"'!'", "denies nothing"}, {"!"});
  refused({"denies a denial"}, {"!!cat"});
  refused({"space"}, {"! cat"});
  refused({"alone"}, {std::string(kSomethingElse), "!cat"});
  refused({"longer"}, {"!" + std::string(200, 'a')});
  expect_error(ErrorCode::kInvalidArgument, {"not 'dog'"}, [&] {
    store_.relabel(dog, std::vector<std::string>{"dog", "!dog"});
  });
  EXPECT_THAT(labels_of(dog), ElementsAre("!cat", "dog"));
}

TEST_F(DenialTest, GoesWithItsLastSample) {
  const Digest table = add("table", {"!cat"});
  store_.assign(std::vector{table}, std::vector<std::string>{"table"});
  EXPECT_THAT(names(), ElementsAre("table"));
  store_.undo();
  EXPECT_THAT(labels_of(table), ElementsAre("!cat"));
  EXPECT_THAT(names(), ElementsAre("!cat"));
  store_.forget(table);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(DenialTest, OtherCaseIsAskedAboutAsOfLabels) {
  const auto other = [&](const std::string& name) {
    try {
      store_.check_case(std::vector{name});
    } catch (const OtherCase& e) {
      return e.given + " " + e.label;
    }
    return std::string();
  };
  add("cat", {"cat"});
  add("no dog", {"!dog"});
  EXPECT_EQ(other("!Cat"), "Cat cat");
  EXPECT_EQ(other("Dog"), "Dog dog");
  EXPECT_EQ(other("!cat") + other("dog") + other("!dog"), "");
}

TEST_F(DenialTest, IsRenamedWithItsLabelAndBack) {
  const Digest table = add("table", {"!marvin"}, "first"), me = add("me", {"marvin"});
  store_.relabel(table, std::vector<std::string>{"!marvin", "table"}, "second");
  store_.rename_label("marvin", "max");
  EXPECT_THAT(labels_of(table), ElementsAre("!max", "table"));
  EXPECT_THAT(labels_of(me), ElementsAre("max"));
  store_.undo("second");
  EXPECT_THAT(labels_of(table), ElementsAre("!max")) << "as it is called now";
  store_.undo();
  EXPECT_THAT(labels_of(table), ElementsAre("!marvin"));
  EXPECT_THAT(names(), ElementsAre("!marvin", "marvin"));
}

TEST_F(DenialTest, NothingBecomesADenialAndNoDenialAnythingElse) {
  const Digest table = add("table", {"!cat"});
  add("cat", {"cat"});
  const auto refuses = [&](const char* word, auto what) {
    expect_error(ErrorCode::kInvalidArgument, {"'!", word}, what);
  };
  refuses("renamed", [&] { store_.rename_label("cat", "!dog"); });
  refuses("renamed", [&] { store_.rename_label("!cat", "dog"); });
  refuses("merged", [&] { store_.merge_label("cat", "!dog"); });
  refuses("merged", [&] { store_.merge_label("!cat", "dog"); });
  const std::vector<std::string> pet = {"pet"}, no_pet = {"!pet"};
  refuses("stands for", [&] { store_.set_reconciliation("!cat", pet); });
  refuses("stood for", [&] { store_.set_reconciliation("cat", no_pet); });
  EXPECT_THAT(names(), ElementsAre("!cat", "cat"));
  add("no dog", {"!dog"});
  expect_error(ErrorCode::kAlreadyExists, {"not 'dog'", "label merge"},
               [&] { store_.rename_label("cat", "dog"); });
  EXPECT_THAT(labels_of(table), ElementsAre("!cat"));
}

TEST_F(DenialTest, IsMergedWithItsLabel) {
  const Digest table = add("table", {"!tabby"}), cat = add("cat", {"!tabby", "cat"}),
               both = add("both", {"!cat", "!tabby", "dog"}),
               tabby = add("tabby", {"!cat", "tabby"});
  EXPECT_EQ(store_.merge_label("tabby", "cat"), 4U);
  EXPECT_THAT(labels_of(table), ElementsAre("!cat"));
  EXPECT_THAT(labels_of(cat), ElementsAre("cat"));
  EXPECT_THAT(labels_of(both), ElementsAre("!cat", "dog"));
  EXPECT_THAT(labels_of(tabby), ElementsAre("cat"));
  EXPECT_THAT(names(), ElementsAre("!cat", "cat", "dog"));
  store_.undo();
  EXPECT_THAT(labels_of(table), ElementsAre("!tabby"));
  EXPECT_THAT(labels_of(cat), ElementsAre("!tabby", "cat"));
  EXPECT_THAT(labels_of(both), ElementsAre("!cat", "!tabby", "dog"));
  EXPECT_THAT(labels_of(tabby), ElementsAre("!cat", "tabby"));
}

TEST_F(DenialTest, StaysWhenItsLabelBecomesSomethingElse) {
  const Digest pet = add("pet", {"!dog", "pet"}), table = add("table", {"!pet"});
  store_.merge_label("pet", std::string(kSomethingElse));
  EXPECT_THAT(labels_of(pet), ElementsAre(std::string(kSomethingElse)));
  EXPECT_THAT(labels_of(table), ElementsAre("!pet"));
}

TEST_F(DenialTest, IsRemovedWithItsLabel) {
  const Digest table = add("table", {"!cat"}), dog = add("dog", {"!cat", "dog"}),
               cat = add("cat", {"cat"});
  expect_error(ErrorCode::kFailedPrecondition, {"3 samples"}, [&] { store_.remove_label("cat"); });
  const auto forgotten = store_.remove_label("cat", /*with_samples=*/true);
  EXPECT_THAT(forgotten, ::testing::UnorderedElementsAre(table, cat));
  EXPECT_THAT(labels_of(dog), ElementsAre("dog"));
  EXPECT_THAT(names(), ElementsAre("dog"));
  store_.undo();
  EXPECT_THAT(labels_of(dog), ElementsAre("!cat", "dog"));
  EXPECT_THAT(store_.remove_label("!cat", /*with_samples=*/true), IsEmpty());
  EXPECT_THAT(labels_of(dog), ElementsAre("dog"));
}

TEST_F(DenialTest, OfFiveSomeAreHeldOutAndSomeAreNot) {
  for (int i = 0; i < 5; ++i) add("table " + std::to_string(i), {"!cat"});
  ASSERT_EQ(store_.labels().size(), 1U);
  EXPECT_GT(store_.labels()[0].validation, 0U);
  EXPECT_LT(store_.labels()[0].validation, 5U);
}

TEST_F(DenialTest, IsNoClassOfTheDatasetButToldOf) {
  const auto picture = [](int seed) { return encode_png(test::pattern(8 + seed, 8, 3)); };
  const std::vector<std::string> dog = {"dog", "!cat"}, table = {"!cat", "!wolf"}, ant = {"ant"};
  store_.add_sample(picture(1), dog);
  store_.add_sample(picture(2), table);
  store_.add_sample(picture(3), ant);
  const LabelDataset dataset(store_, *test::rgb_images(8));
  ASSERT_EQ(dataset.size(), 3U);
  EXPECT_THAT(dataset.classes(), ElementsAre("ant", "dog"));
  EXPECT_THAT(dataset.denials(), ElementsAre("cat", "wolf"));
  EXPECT_THAT(dataset.labels(0), ElementsAre(1));
  EXPECT_THAT(dataset.denied(0), ElementsAre(0));
  EXPECT_THAT(dataset.labels(1), IsEmpty());
  EXPECT_THAT(dataset.denied(1), ElementsAre(0, 1));
  EXPECT_THAT(dataset.denied(2), IsEmpty());

  const ClassSubset chosen(dataset, {"wolf", "ant"});
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_THAT(chosen.classes(), ElementsAre("ant"));
  EXPECT_THAT(chosen.denials(), ElementsAre("wolf"));
  EXPECT_THAT(chosen.labels(0), IsEmpty());
  EXPECT_THAT(chosen.denied(0), ElementsAre(0));
  EXPECT_THAT(chosen.labels(1), ElementsAre(0));
}

}  // namespace
}  // namespace moil::data
