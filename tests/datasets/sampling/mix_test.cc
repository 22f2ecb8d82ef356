#include "datasets/sampling/mix.h"

#include "datasets/readers/label_dataset.h"
#include "datasets/samples/subset.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;

// Samples that are a name each; what they look like is of no matter here.
class NamedDataset : public TableDataset<Dataset> {
 public:
  explicit NamedDataset(std::vector<std::string> classes, std::vector<std::string> denials = {}) {
    table_ = SampleTable(std::move(classes), std::move(denials));
  }
  void add(const std::string& name, std::vector<ClassId> labels, Split split = Split::kTrain,
           std::vector<ClassId> denied = {}) {
    table_.add(std::move(labels), split, std::move(denied));
    names_.push_back(name);
  }
  Digest digest(std::size_t i) const override { return digest_of(names_.at(i)); }
  // "p/1" and "p/2" are of one scene.
  std::int64_t scene(std::size_t i) const override {
    const auto slash = names_.at(i).find('/');
    return slash == std::string::npos ? kOwnScene : names_[i][0];
  }

 private:
  std::vector<std::string> names_;
};

class MixTest : public ::testing::Test {
 protected:
  MixTest() : global_({"dog", "bark", "cat"}), local_({"zebra", "cat", "hound", "ant"}) {
    for (int i = 0; i < 30; ++i) {
      global_.add("g" + std::to_string(i), {static_cast<ClassId>(i % 3)},
                  i < 6 ? Split::kValidation : Split::kTrain);
    }
    local_.add("z", {0});
    local_.add("c", {1});
    local_.add("h", {2});
    local_.add("a", {3}, Split::kValidation);
  }
  NamedDataset global_, local_;
};

TEST_F(MixTest, NewClassesFollowTheGlobalOnes) {
  const Mix night = mix(global_, local_, {}, 0.5, 1);
  EXPECT_THAT(night.classes, ElementsAre("dog", "bark", "cat", "ant", "hound", "zebra"));
  EXPECT_EQ(night.global_classes, 3u);
  ASSERT_EQ(night.train.size(), 12u + 3u);
  EXPECT_THAT(night.train[12].labels, ElementsAre(5));
  EXPECT_THAT(night.train[13].labels, ElementsAre(2)) << "cat is known to both";
  EXPECT_THAT(night.train[14].labels, ElementsAre(4));
  EXPECT_EQ(night.train[14].ref, (SampleRef{Source::kLocal, 2}));
  EXPECT_EQ(night.train[14].digest, digest_of("h"));
  EXPECT_EQ(night.global_validation.size(), 6u);
  ASSERT_EQ(night.local_validation.size(), 1u);
  EXPECT_THAT(night.local_validation[0].labels, ElementsAre(3));
}

TEST_F(MixTest, ReconciliationMapsToOneOrMoreGlobalLabels) {
  const Mix night = mix(global_, local_, {{"hound", {"bark", "dog"}}, {"ant", {"cat"}}}, 0, 1);
  EXPECT_THAT(night.classes, ElementsAre("dog", "bark", "cat", "zebra"));
  ASSERT_EQ(night.train.size(), 3u) << "alpha 0 draws nothing";
  EXPECT_THAT(night.train[2].labels, ElementsAre(0, 1));
  EXPECT_THAT(night.local_validation[0].labels, ElementsAre(2));
  expect_error(ErrorCode::kInvalidArgument, {"'hound'", "'wolf'"}, [&] {
    (void)mix(global_, local_, {{"hound", {"wolf"}}}, 0, 1);
  });
}

TEST_F(MixTest, ReconciliationMayNameWhatTheModelLearnedBefore) {
  const Mix night = mix(global_, local_, {{"hound", {"wolf"}}, {"zebra", {"wolf"}}}, 0, 1, {},
                        {.known_labels = {"wolf"}});
  EXPECT_THAT(night.classes, ElementsAre("dog", "bark", "cat", "ant", "wolf"));
  EXPECT_EQ(night.global_classes, 3u);
  EXPECT_THAT(night.train[0].labels, ElementsAre(4));
  EXPECT_THAT(night.train[2].labels, ElementsAre(4));
}

TEST_F(MixTest, WhatSamplesAreNotIsNoNewClass) {
  NamedDataset local({"ant", "hound"}, {"ant", "cat", "hound", "wolf", "yeti"});
  local.add("a", {0}, Split::kTrain, {1, 4});
  local.add("n", {}, Split::kTrain, {0, 3});
  local.add("y", {}, Split::kTrain, {4});
  local.add("h", {1}, Split::kValidation, {0});
  local.add("m", {}, Split::kValidation, {2});
  const Mix night = mix(global_, local, {{"hound", {"bark", "dog"}}}, 0, 1, {},
                        {.known_labels = {"Cat", "wolf"}});
  EXPECT_THAT(night.classes, ElementsAre("dog", "bark", "cat", "ant", "wolf"));
  ASSERT_EQ(night.train.size(), 2U) << "a yeti is nothing that anybody knows";
  EXPECT_THAT(night.train[0].labels, ElementsAre(3));
  EXPECT_THAT(night.train[0].denied, ElementsAre(2));
  EXPECT_FALSE(night.train[0].is_denied_alone());
  EXPECT_THAT(night.train[1].denied, ElementsAre(3, 4));
  EXPECT_TRUE(night.train[1].is_denied_alone());
  ASSERT_EQ(night.local_validation.size(), 2U);
  EXPECT_THAT(night.local_validation[1].denied, ElementsAre(0, 1)) << "what a hound is in the mix";
  EXPECT_THAT(night.denied_in_vain, ElementsAre("yeti"));
}

TEST_F(MixTest, ALabelCountsMoreThanADenialOfTheSameClass) {
  NamedDataset local({"hound"}, {"dog"});
  local.add("h", {0}, Split::kTrain, {0});
  const Mix night = mix(global_, local, {{"hound", {"dog"}}}, 0, 1);
  ASSERT_EQ(night.train.size(), 1U);
  EXPECT_THAT(night.train[0].labels, ElementsAre(0));
  EXPECT_TRUE(night.train[0].denied.empty());
}

TEST_F(MixTest, ASceneThatIsTrainedOnIsNotHeldOut) {
  local_.add("p/1", {0});
  local_.add("p/2", {0}, Split::kValidation);
  local_.add("q/1", {0}, Split::kValidation);
  const Mix night = mix(global_, local_, {}, 0, 1);
  EXPECT_EQ(night.train[0].scene, kOwnScene);
  EXPECT_EQ(night.train[3].scene, 'p');
  ASSERT_EQ(night.local_validation.size(), 2u) << "p is trained on";
  EXPECT_EQ(night.local_validation[1].scene, 'q');
  EXPECT_EQ(night.also_trained, 1u);
}

TEST_F(MixTest, ALimitBoundsWhatIsDrawnOfThePack) {
  const Mix night = mix(global_, local_, {}, 0.5, 1, {}, {.limit = 5});
  EXPECT_EQ(night.train.size(), 5u + 3u);
  EXPECT_EQ(night.global_validation.size(), 6u) << "judging is not bounded";
}

TEST_F(MixTest, HeldOutContentIsNeverTrainedOn) {
  local_.add("g0", {1});                 // held out in the global dataset
  global_.add("a", {0}, Split::kTrain);  // held out in the local one
  const Mix night = mix(global_, local_, {}, 1, 1);
  EXPECT_EQ(night.also_held_out, 2u);
  for (const auto& sample : night.train) {
    EXPECT_NE(sample.digest, digest_of("g0"));
    EXPECT_NE(sample.digest, digest_of("a"));
  }
}

TEST_F(MixTest, WhatCannotBeReadIsNotInTheMixAndTheRestStays) {
  const Mix whole = mix(global_, local_, {}, 0.2, 7);
  const Digest drawn = whole.train[0].digest;  // a global one
  ASSERT_EQ(whole.train[0].ref.source, Source::kGlobal);
  const Digest held_out = whole.local_validation[0].digest;
  const Mix night = mix(global_, local_, {}, 0.2, 7, {drawn, held_out});
  ASSERT_EQ(night.train.size(), whole.train.size() - 1);
  for (std::size_t i = 0; i < night.train.size(); ++i)
    EXPECT_EQ(night.train[i].ref, whole.train[i + 1].ref);
  EXPECT_TRUE(night.local_validation.empty());
}

TEST_F(MixTest, ANewLabelOfUnreadableSamplesAloneIsNoClass) {
  const Mix whole = mix(global_, local_, {}, 1, 1);
  std::unordered_set<Digest> unreadable;
  const auto fresh = static_cast<ClassId>(whole.classes.size() - 1);
  for (const auto* list : {&whole.train, &whole.local_validation})
    for (const auto& sample : *list)
      if (std::ranges::find(sample.labels, fresh) != sample.labels.end())
        unreadable.insert(sample.digest);
  ASSERT_FALSE(unreadable.empty());
  const Mix night = mix(global_, local_, {}, 1, 1, unreadable);
  EXPECT_EQ(night.classes.size(), whole.classes.size() - 1);
  EXPECT_TRUE(std::equal(night.classes.begin(), night.classes.end(), whole.classes.begin()));
}

TEST_F(MixTest, NamesThatReadTheSameAreOneClass) {
  NamedDataset german(
      {"\xc3\x9c"
       "bung"}),
      typed({"U\xcc\x88"
             "bung"});
  german.add("a", {0});
  typed.add("b", {0}, Split::kTrain);
  const Mix night = mix(german, typed, {}, 0, 1);
  EXPECT_THAT(night.classes, ElementsAre("\xc3\x9c"
                                         "bung"));
  EXPECT_THAT(night.train[0].labels, ElementsAre(0));
}

TEST_F(MixTest, MoreLocalSamplesLeaveTheGlobalDraw) {
  const Mix first = mix(global_, local_, {}, 0.2, 7);
  local_.add("new", {0});
  const Mix second = mix(global_, local_, {}, 0.2, 7);
  for (std::size_t i = 0; first.train[i].ref.source == Source::kGlobal; ++i) {
    EXPECT_EQ(first.train[i].ref, second.train[i].ref);
  }
}

TEST(LabelDataset, ShowsTheImagesOfTheStore) {
  test::TempFolder folder;
  LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
  const Image photo = test::pattern(9, 7, 3);
  const std::vector<std::string> pets = {"pet", "cat"}, cat = {"cat"}, sound = {"sound"};
  store.add_sample(encode_png(photo), pets);
  store.add_sample(test::bytes_of("RIFF0000WAVEfmt "), sound);
  store.add_sample(test::bytes_of("\x89PNG\r\n\x1a\nbroken"), cat, Split::kValidation);
  const LabelDataset dataset(store, *test::rgb_images(8));
  ASSERT_EQ(dataset.size(), 2u);
  EXPECT_THAT(dataset.classes(), ElementsAre("cat", "pet"));
  EXPECT_THAT(dataset.labels(0), ElementsAre(0, 1));
  EXPECT_EQ(dataset.split(1), Split::kValidation);
  EXPECT_EQ(test::image_of(dataset, 0), photo);
  EXPECT_EQ(dataset.digest(0), digest_of(encode_png(photo)));
  expect_error(ErrorCode::kBadData, {dataset.digest(1).hex()},
               [&] { (void)test::image_of(dataset, 1); });
  store.forget(dataset.digest(0));
  expect_error(ErrorCode::kNotFound, {"no sample"}, [&] { (void)test::image_of(dataset, 0); });

  const ClassSubset pet(dataset, {"pet"});
  ASSERT_EQ(pet.size(), 1u);
  EXPECT_THAT(pet.labels(0), ElementsAre(0));
  EXPECT_EQ(pet.digest(0), dataset.digest(0));
  expect_error(ErrorCode::kInvalidArgument, {"'dog'"}, [&] { ClassSubset(dataset, {"dog"}); });
}

}  // namespace
}  // namespace moil::data
