// Unlabelled samples, several changes at once, and what was done undone.
#include <algorithm>

#include "datasets/kinds/image/image_kind.h"
#include "datasets/labels/label_store.h"
#include "datasets/readers/label_dataset.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;
using test::photo;
using ::testing::ElementsAre;

class LabelStoreStepsTest : public ::testing::Test {
 protected:
  Digest add(std::string_view content, std::vector<std::string> labels,
             std::string_view step = {}) {
    return store().add_sample(bytes_of(photo(content)), labels, {}, {}, step).digest;
  }
  void assign(std::vector<Digest> samples, std::vector<std::string> labels,
              std::string_view step = {}) {
    store().assign(samples, labels, step);
  }
  std::vector<std::string> labels_of(const Digest& digest) {
    return store().find(digest).value().labels;
  }
  std::string all() {  // "cat 2, dog 1"
    std::string text;
    for (const auto& label : store().labels())
      text += (text.empty() ? "" : ", ") + label.name + " " + std::to_string(label.samples);
    return text;
  }
  LabelStore& store() {
    if (!store_) store_.emplace(folder_ / "labels", LabelStore::Access::kReadWrite);
    return *store_;
  }
  void reopen() { store_.reset(); }

  test::TempFolder folder_;
  std::optional<LabelStore> store_;
};

TEST_F(LabelStoreStepsTest, UnlabelledSamplesAreKeptCountedAndNoPartOfTheDataset) {
  const Digest one = add("1", {}), two = add("2", {"cat"});
  EXPECT_EQ(store().counts().unlabelled, 1u);
  SampleQuery query;
  query.labelled = false;
  ASSERT_EQ(store().samples(query).size(), 1u);
  EXPECT_EQ(store().samples(query)[0].digest, one);
  query.labelled = true;
  EXPECT_EQ(store().samples(query)[0].digest, two);
  EXPECT_EQ(LabelDataset(store(), *test::rgb_images(8)).size(), 1u);
  EXPECT_EQ(store().remove_label("cat", true).size(), 1u) << "the unlabelled one is not its";
  EXPECT_TRUE(store().has(one));
  store().forget(one);
  EXPECT_EQ(store().counts().samples, 0u);
}

TEST_F(LabelStoreStepsTest, AFirstLabelMakesASampleTheNewest) {
  const Digest one = add("1", {});
  add("2", {"cat"});
  const auto before = store().newest_id();
  assign({one}, {"cat"});
  EXPECT_EQ(store().find(one)->id, before + 1);
  const Digest three = add("3", {"cat"});
  EXPECT_EQ(store().find(three)->id, before + 2);
  EXPECT_EQ(store().add_sample(bytes_of(photo("3")), std::vector<std::string>{"cat"}).is_new,
            false);
  const Digest four = add("4", {});
  add("4", {"dog"});
  EXPECT_THAT(labels_of(four), ElementsAre("dog"));
  EXPECT_EQ(store().find(four)->split, Split::kTrain) << "the first of its label";
}

TEST_F(LabelStoreStepsTest, AssigningIsAllOrNothing) {
  const Digest one = add("1", {"cat", "pet"}), two = add("2", {});
  expect_error(ErrorCode::kNotFound, {"no sample"}, [&] {
    assign({one, digest_of("nobody")}, {"dog"});
  });
  EXPECT_EQ(all(), "cat 1, pet 1");
  assign({one, two}, {"dog"});
  EXPECT_EQ(all(), "cat 0, dog 2, pet 0");
  assign({one}, {});
  EXPECT_TRUE(labels_of(one).empty());
  store().undo();
  store().undo();
  EXPECT_EQ(all(), "cat 1, pet 1");
  EXPECT_TRUE(labels_of(two).empty());
}

TEST_F(LabelStoreStepsTest, AddingIsUndoneByForgetting) {
  add("1", {"cat"});
  add("2", {"cat"}, "import");
  add("3", {"dog"}, "import");
  reopen();  // durable
  const UndoneStep undone = store().undo();
  EXPECT_EQ(undone.kind, "add");
  EXPECT_EQ(undone.forgotten, 2u);
  EXPECT_THAT(undone.labels, ElementsAre("cat", "dog"));
  EXPECT_EQ(undone.left, 1u);
  EXPECT_EQ(all(), "cat 1");
  EXPECT_EQ(store().forgetting().size(), 2u);
  store().undo();
  EXPECT_EQ(all(), "");
  expect_error(ErrorCode::kFailedPrecondition, {"no change"}, [&] { store().undo(); });
}

TEST_F(LabelStoreStepsTest, MergingGivesSamplesAndMeaning) {
  const Digest one = add("1", {"kitten"}), two = add("2", {"kitten", "cat"});
  store().set_reconciliation("kitten", std::vector<std::string>{"tabby"});
  EXPECT_EQ(store().merge_label("kitten", "cat"), 2u);
  EXPECT_EQ(all(), "cat 2");
  EXPECT_THAT(store().reconciliation().at("cat"), ElementsAre("tabby"));
  const UndoneStep undone = store().undo();
  EXPECT_EQ(undone.restored, 2u);
  EXPECT_THAT(labels_of(one), ElementsAre("kitten"));
  EXPECT_THAT(labels_of(two), ElementsAre("cat", "kitten"));
  EXPECT_THAT(store().reconciliation().at("kitten"), ElementsAre("tabby"));
  EXPECT_FALSE(store().reconciliation().contains("cat"));
  expect_error(ErrorCode::kNotFound, {"'lion'"}, [&] { store().merge_label("lion", "cat"); });
  expect_error(ErrorCode::kInvalidArgument, {"itself"}, [&] { store().merge_label("cat", "cat"); });
}

TEST_F(LabelStoreStepsTest, NamesAndRemovedLabelsComeBack) {
  const Digest one = add("1", {"cat", "pet"}), two = add("2", {"cat"});
  store().rename_label("cat", "tom");
  store().remove_label("tom", true);
  EXPECT_EQ(all(), "pet 1");
  const UndoneStep undone = store().undo();
  EXPECT_EQ(undone.kind, "rm");
  EXPECT_EQ(undone.restored, 1u);
  EXPECT_THAT(labels_of(one), ElementsAre("pet", "tom"));
  EXPECT_FALSE(store().has(two)) << "what is forgotten is forgotten";
  EXPECT_EQ(store().undo().kind, "rename");
  EXPECT_THAT(labels_of(one), ElementsAre("cat", "pet"));
}

TEST_F(LabelStoreStepsTest, StepsAreBoundedAndKeepNothingOfWhatIsForgotten) {
  const Digest first = add("first", {"cat"});
  for (int i = 0; i < 60; ++i)
    store().relabel(first, std::vector{i % 2 == 0 ? std::string("dog") : std::string("cat")});
  EXPECT_EQ(store().undo().left, LabelJournal::kMostSteps - 1);
  store().forget(first);
  EXPECT_EQ(store().undo().restored, 0u);
  store_.reset();
  Database database(folder_ / "labels/labels.db", Database::Access::kReadOnly);
  EXPECT_EQ(database.number("SELECT count(*) FROM step_samples"), 0);
}

}  // namespace
}  // namespace moil::data
