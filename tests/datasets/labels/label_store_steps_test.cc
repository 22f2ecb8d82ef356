// Unlabelled samples, several changes at once, and what was done undone.
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>

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
  try {
    store().undo();
    FAIL();
  } catch (const WouldForget& refused) {
    EXPECT_EQ(refused.samples, 2u);
  }
  EXPECT_EQ(all(), "cat 2, dog 1") << "nothing is forgotten that nobody agreed to";
  const UndoneStep undone = store().undo({}, true);
  EXPECT_EQ(undone.kind, "add");
  EXPECT_EQ(undone.forgotten, 2u);
  EXPECT_THAT(undone.labels, ElementsAre("cat", "dog"));
  EXPECT_EQ(undone.left, 1u);
  EXPECT_EQ(all(), "cat 1");
  EXPECT_EQ(store().forgetting().size(), 2u);
  store().undo({}, true);
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
  EXPECT_EQ(undone.kind, "merge");
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

TEST_F(LabelStoreStepsTest, MappingIsAStepOfItsOwn) {
  const Digest one = add("1", {"cat"});
  store().set_reconciliation("cat", std::vector<std::string>{"tabby"});
  store().set_reconciliation("cat", std::vector<std::string>{"tabby"});  // changes nothing: no step
  add("2", {"cat"});
  store().set_reconciliation("lynx", std::vector<std::string>{"wildcat"});
  UndoneStep undone = store().undo();
  EXPECT_EQ(undone.kind, "map");
  EXPECT_EQ(all(), "cat 2") << "the label that came with its map goes with it";
  EXPECT_TRUE(store().has(one));
  EXPECT_EQ(store().undo({}, true).kind, "add");
  EXPECT_THAT(store().reconciliation().at("cat"), ElementsAre("tabby"))
      << "adding under a label that is there changes nothing of what it means";
  EXPECT_EQ(store().undo().kind, "map");
  EXPECT_TRUE(store().reconciliation().empty());
  EXPECT_EQ(all(), "cat 1");
}

// Every kind of step, taken back one by one: what is there is what was there, step by step.
TEST_F(LabelStoreStepsTest, UndoRestoresExactlyWhatEachStepChanged) {
  const Digest one = add("1", {"cat"}), two = add("2", {}), three = add("3", {"dog", "pet"});
  store().set_reconciliation("dog", std::vector<std::string>{"Dog"});
  const auto state = [&] {
    std::string text = all();
    for (const auto& [label, globals] : store().reconciliation())
      for (const auto& global : globals) text += "; " + label + " means " + global;
    for (const SampleRecord& sample : store().samples()) {
      text += "\n" + sample.digest.hex() + (sample.split == Split::kTrain ? " train" : " val");
      for (const auto& label : sample.labels) text += " " + label;
    }
    return text;
  };
  const std::vector<std::function<void()>> steps = {
      [&] {
        assign({one, two}, {"lynx"});
      },
      [&] {
        store().relabel(one, std::vector<std::string>{"cat", "pet"});
      },
      [&] { store().rename_label("dog", "hound"); },
      [&] {
        store().set_reconciliation("hound", std::vector<std::string>{"Hound", "Dog"});
      },
      [&] { store().merge_label("hound", "cat"); },
      [&] { store().set_reconciliation("cat", {}); },
      [&] { assign({three}, {}); },
      [&] { store().rename_label("cat", "dog"); },
      [&] { store().remove_label("pet", true); },
      [&] {
        add("4", {"dog", "fox"});
      },
  };
  std::vector<std::string> before;
  for (const auto& step : steps) {
    before.push_back(state());
    step();
  }
  // A sample that gets its first label again is the newest.
  const auto without_order = [](std::string text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  };
  for (std::size_t i = steps.size(); i-- > 0;) {
    store().undo({}, true);
    EXPECT_EQ(without_order(state()), without_order(before[i])) << "step " << i;
  }
}

// As if it had never been: what others did since stays, and is undone to what was there without it.
TEST_F(LabelStoreStepsTest, AStepIsTakenOutByItsNameAndLaterOnesStay) {
  const Digest one = add("1", {"dog"}), two = add("2", {"dog"}), three = add("3", {});
  assign({one, two, three}, {"cat"}, "page 1");
  store().relabel(one, std::vector<std::string>{"fox"});  // somebody else
  store().rename_label("dog", "hound");
  const UndoneStep undone = store().undo("page 1");
  EXPECT_EQ(undone.kind, "assign");
  EXPECT_THAT(undone.kept, ElementsAre(one));
  EXPECT_EQ(undone.restored, 2u);
  EXPECT_THAT(labels_of(one), ElementsAre("fox"));
  EXPECT_THAT(labels_of(two), ElementsAre("hound")) << "as the label is called by now";
  EXPECT_TRUE(labels_of(three).empty());
  EXPECT_EQ(all(), "fox 1, hound 1") << "the label that came with it went with it";
  expect_error(ErrorCode::kFailedPrecondition, {"undone already", "50"},
               [&] { store().undo("page 1"); });
  EXPECT_EQ(store().undo().kind, "rename");
  EXPECT_EQ(store().undo().kind, "relabel");
  EXPECT_THAT(labels_of(one), ElementsAre("dog")) << "not the mistake that was taken back";
}

// Whatever changes what is right of a sample is told to who asks.
TEST_F(LabelStoreStepsTest, EveryWayALabelChangesIsAmongTheChanges) {
  const Digest one = add("1", {"cat"}), two = add("2", {"cat", "pet"}), three = add("3", {});
  std::int64_t seen = store().newest_change();
  const auto changed = [&] {
    std::set<std::string> found;
    for (const SampleChange& change : store().changes(seen, 100)) {
      EXPECT_GT(change.number, seen);
      seen = change.number;
      const std::string what = !change.is_labelled ? "- " : change.has_other_labels ? "! " : " ";
      found.insert((change.digest == one ? "1" : change.digest == two ? "2" : "3") + what);
    }
    EXPECT_EQ(store().newest_change(), seen);
    return std::accumulate(found.begin(), found.end(), std::string());
  };
  EXPECT_EQ(changed(), "");
  store().relabel(one, std::vector<std::string>{"dog"});
  EXPECT_EQ(changed(), "1! ");
  assign({one, two, three}, {"fox"});
  EXPECT_EQ(changed(), "1! 2! 3! ");
  assign({one, two, three}, {"fox"});
  EXPECT_EQ(changed(), "") << "it changes nothing";
  store().undo();
  EXPECT_EQ(changed(), "1! 2! 3- ");
  store().merge_label("pet", "cat");
  EXPECT_EQ(changed(), "2! ");
  store().set_reconciliation("cat", std::vector<std::string>{"tabby"});
  EXPECT_EQ(changed(), "2 ");
  store().rename_label("cat", "lynx");
  EXPECT_EQ(changed(), "2 ");
  store().undo();
  EXPECT_EQ(changed(), "2 ");
  store().undo();
  EXPECT_EQ(changed(), "2 ");
  store().undo();
  EXPECT_EQ(changed(), "2! ");
  store().remove_label("pet", true);
  EXPECT_EQ(changed(), "2! ");
  add("3", {"dog"});
  EXPECT_EQ(changed(), "3! ");
  assign({three}, {});
  EXPECT_EQ(changed(), "3- ");
}

}  // namespace
}  // namespace moil::data
