// Scenes of the label store: on which side of the split they lie.
#include <algorithm>

#include "datasets/labels/label_store.h"
#include "datasets/samples/dataset.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::photo;
using ::testing::ElementsAre;

// What all samples of a scene look like, each a little different.
Likeness look(std::uint64_t scene, int frame) {
  Likeness one{scene * 0x9e3779b97f4a7c15, ~(scene * 0xbf58476d1ce4e5b9)};
  one.across ^= std::uint64_t{1} << frame % 4;
  return one;
}

class LabelStoreScenesTest : public ::testing::Test {
 protected:
  // Held out by its digest or not, as asked; its number is its id.
  std::int64_t add(Split wanted, std::vector<std::string> labels, std::optional<Split> split = {}) {
    for (;; ++next_) {
      const auto content = photo("sample " + std::to_string(next_));
      if (!split && split_of(digest_of(bytes_of(content)), kValidationFraction) != wanted) continue;
      ++next_;
      return store().find(store().add_sample(bytes_of(content), labels, split).digest)->id;
    }
  }
  std::int64_t train(std::vector<std::string> labels = {"a"}) { return add(Split::kTrain, labels); }
  std::int64_t held_out(std::vector<std::string> labels = {"a"}) {
    return add(Split::kValidation, labels);
  }
  SampleRecord sample(std::int64_t id) {
    SampleQuery query;
    query.after_id = id - 1;
    return store().samples(query).at(0);
  }
  void tell(std::int64_t id, const Likeness& likeness) {
    const SampleLikeness told{sample(id).digest, likeness};
    use({&told, 1});
  }
  // They are frames of a scene.
  void look_at(std::uint64_t scene, const std::vector<std::int64_t>& ids) {
    std::vector<SampleLikeness> told;
    for (const std::int64_t id : ids)
      told.push_back({sample(id).digest, look(scene, static_cast<int>(id))});
    use(told);
  }
  // As a night does.
  void use(std::span<const SampleLikeness> samples) {
    store().record_likenesses(samples);
    std::vector<Digest> digests;
    for (const SampleLikeness& sample : samples) digests.push_back(sample.digest);
    store().record_uses(digests);
  }
  std::vector<int> sides(const std::vector<std::int64_t>& ids) {
    std::vector<int> sides;
    for (const std::int64_t id : ids) sides.push_back(static_cast<int>(sample(id).split));
    return sides;
  }
  LabelStore& store() {
    if (!store_) store_.emplace(folder_ / "labels", LabelStore::Access::kReadWrite);
    return *store_;
  }

  test::TempFolder folder_;
  std::optional<LabelStore> store_;
  int next_ = 0;
};

TEST_F(LabelStoreScenesTest, AFreshSceneGoesWhereItsFirstSampleByContentLies) {
  const auto other = train();
  look_at(1, {other});
  for (std::uint64_t scene = 2; scene < 8; ++scene) {
    const std::vector<std::string> label = {"of scene " + std::to_string(scene)};
    train(label);  // something to be learned from
    const std::vector<std::int64_t> ids = {held_out(label), train(label), train(label)};
    const auto first =
        std::ranges::min(ids, {}, [&](std::int64_t id) { return sample(id).digest; });
    look_at(scene, {ids[2], ids[0], ids[1]});
    const int side = first == ids[0] ? 1 : 0;
    EXPECT_THAT(sides(ids), ElementsAre(side, side, side));
    for (const std::int64_t id : ids) EXPECT_EQ(sample(id).scene, sample(ids[0]).scene);
    EXPECT_NE(sample(ids[0]).scene, kOwnScene);
  }
  EXPECT_EQ(sample(other).scene, kOwnScene);
  EXPECT_TRUE(sample(other).is_looked_at);
}

TEST_F(LabelStoreScenesTest, WhatJoinsASceneTakesItsSide) {
  const auto a = train(), b = held_out();
  look_at(1, {a});
  look_at(2, {b});
  EXPECT_THAT(sides({a, b}), ElementsAre(0, 1));
  const auto c = held_out(), d = train();
  look_at(1, {c});
  look_at(2, {d});
  EXPECT_THAT(sides({a, c, b, d}), ElementsAre(0, 0, 1, 1));
}

// A night may have trained on the one and held out the other.
TEST_F(LabelStoreScenesTest, WhatWasTrainedOnIsNeverHeldOut) {
  const auto first = train(), a = train(), b = held_out();
  look_at(1, {first});
  tell(a, Likeness{~0ULL, 0xff});
  tell(b, Likeness{~0ULL, 0xffffffff});
  EXPECT_EQ(sample(a).scene, kOwnScene);
  const auto between = train();
  tell(between, Likeness{~0ULL, 0xfffff});
  EXPECT_EQ(sample(a).scene, a);
  EXPECT_EQ(sample(b).scene, a);
  EXPECT_THAT(sides({a, b, between}), ElementsAre(0, 0, 0));
}

// A night has held it out, and no other has trained on it: it was only lent.
TEST_F(LabelStoreScenesTest, WhatIsLentToTrainingIsHeldOutAgain) {
  const auto a = train(), b = held_out(), c = train({"b"});
  for (const auto id : {a, b, c}) look_at(static_cast<std::uint64_t>(id), {id});
  EXPECT_THAT(sides({a, b, c}), ElementsAre(0, 1, 0));
  const Digest only = sample(a).digest;
  const std::vector<std::string> other = {"b"}, own = {"a"};
  store().assign({&only, 1}, other);
  EXPECT_THAT(sides({a, b, c}), ElementsAre(0, 0, 0)) << "something of its label is learned from";
  EXPECT_FALSE(sample(b).is_used) << "on this side";
  store().assign({&only, 1}, own);
  EXPECT_THAT(sides({a, b, c}), ElementsAre(0, 1, 0));
  store().assign({&only, 1}, other);
  look_at(9, {b});
  store().assign({&only, 1}, own);
  EXPECT_THAT(sides({a, b, c}), ElementsAre(0, 0, 0)) << "a night has trained on it";
}

// It hangs together by what lies between, for as long as that is there.
TEST_F(LabelStoreScenesTest, WhatIsForgottenJoinsNothing) {
  const auto first = train(), a = train(), b = held_out();
  look_at(1, {first});
  tell(a, Likeness{~0ULL, 0xff});
  tell(b, Likeness{~0ULL, 0xffffffff});
  const auto between = train();
  tell(between, Likeness{~0ULL, 0xfffff});
  EXPECT_THAT(sides({a, b, between}), ElementsAre(0, 0, 0));
  store().forget(sample(between).digest);
  EXPECT_THAT(sides({a, b}), ElementsAre(0, 1));
  for (const auto id : {a, b}) EXPECT_EQ(sample(id).scene, kOwnScene);
}

// Told in two parts or as one: a night takes all of them at once.
TEST_F(LabelStoreScenesTest, LooksAloneMoveNothing) {
  const auto a = train(), b = held_out();
  const SampleLikeness told[] = {{sample(a).digest, look(1, 0)}, {sample(b).digest, look(1, 1)}};
  for (const auto& one : told) store().record_likenesses({&one, 1});
  EXPECT_THAT(sides({a, b}), ElementsAre(0, 1));
  EXPECT_EQ(sample(a).scene, kOwnScene);
  const Digest used[] = {told[0].digest, told[1].digest};
  store().record_uses(used);
  EXPECT_EQ(sample(a).scene, sample(b).scene);
  EXPECT_EQ(sample(a).split, sample(b).split);
}

TEST_F(LabelStoreScenesTest, WhatTheUserChoseStays) {
  const auto a = add(Split::kTrain, {"a"}, Split::kTrain);
  const auto b = add(Split::kTrain, {"a"}, Split::kValidation);
  const auto c = train();
  look_at(1, {a, b, c});
  EXPECT_THAT(sides({a, b, c}), ElementsAre(0, 1, 0));
  const auto d = add(Split::kTrain, {"a"}, Split::kValidation), e = train();
  look_at(2, {d, e});
  EXPECT_THAT(sides({d, e}), ElementsAre(1, 1));
}

TEST_F(LabelStoreScenesTest, ALabelKeepsSomethingToBeLearnedFrom) {
  const auto a = train(), b = held_out(), c = train({"b"});
  look_at(1, {a});
  look_at(2, {b, c});  // c is all that is known of its label
  EXPECT_THAT(sides({a, b, c}), ElementsAre(0, 0, 0));
}

// Five frames of one scene are no ground to judge by; with another scene, all of that is held out.
TEST_F(LabelStoreScenesTest, ASceneIsHeldOutWhole) {
  std::vector<std::int64_t> first, second;
  for (int i = 0; i < 4; ++i) first.push_back(train());
  look_at(1, first);
  EXPECT_THAT(sides(first), ElementsAre(0, 0, 0, 0));
  second.push_back(train());  // the fifth of its label: held out at once
  EXPECT_THAT(sides(second), ElementsAre(1));
  second.push_back(train());
  look_at(2, second);
  EXPECT_THAT(sides(first), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(sides(second), ElementsAre(1, 1));
}

TEST_F(LabelStoreScenesTest, NightsHaveTrainedOnWhatTheyLookedAt) {
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(train());
  ids.push_back(held_out());
  for (std::size_t i = 0; i < ids.size(); ++i) look_at(10 + i, {ids[i]});
  store().forget(sample(ids[4]).digest);
  ids[4] = train();
  EXPECT_THAT(sides(ids), ElementsAre(0, 0, 0, 0, 1)) << "the one that no night has seen";
}

TEST_F(LabelStoreScenesTest, PiecesOfARecordingLieOnTheRecordingsSideWhateverComesFirst) {
  train();  // of the label there is something to be learned from
  int number = 0;
  const auto piece = [&](const Digest& recording) {
    const auto content = photo("piece " + std::to_string(number++));
    const std::vector<std::string> label = {"a"};
    return store()
        .find(store().add_sample(bytes_of(content), label, {}, {}, {}, recording).digest)
        ->id;
  };
  for (int i = 0; i < 12; ++i) {
    const auto content = photo("recording " + std::to_string(i));
    const Digest digest = digest_of(bytes_of(content));
    const std::vector<std::string> label = {"a"};
    std::vector<std::int64_t> ids;
    if (i % 2 == 0)
      ids.push_back(store().find(store().add_sample(bytes_of(content), label).digest)->id);
    ids.push_back(piece(digest));
    const int side = static_cast<int>(split_of(digest, kValidationFraction));
    EXPECT_EQ(sides(ids), std::vector<int>(ids.size(), side));
    ids.push_back(piece(digest));
    if (i % 2 == 1)
      ids.push_back(store().find(store().add_sample(bytes_of(content), label).digest)->id);
    EXPECT_EQ(sides(ids), std::vector<int>(ids.size(), side));
    for (const std::int64_t id : ids) EXPECT_EQ(sample(id).scene, sample(ids[0]).scene);
    EXPECT_NE(sample(ids[0]).scene, kOwnScene);
  }
}

// What decided the side does not matter: four pieces of two recordings, a night, and a fifth piece.
TEST_F(LabelStoreScenesTest, WhatANightUsesIsNeverHeldOutHoweverItCameToItsSide) {
  const std::vector<std::string> label = {"a"};
  std::vector<Digest> recordings;
  for (int i = 0; recordings.size() < 3; ++i) {
    const Digest digest = digest_of(bytes_of("walk " + std::to_string(i)));
    if (split_of(digest, kValidationFraction) == Split::kTrain) recordings.push_back(digest);
  }
  const auto cut = [&](int number, const Digest& recording) {
    return store()
        .add_sample(bytes_of(photo("piece " + std::to_string(number))), label, {}, {}, {},
                    recording)
        .digest;
  };
  std::vector<Digest> pieces;
  for (int i = 0; i < 4; ++i) pieces.push_back(cut(i, recordings[static_cast<std::size_t>(i) / 2]));
  std::vector<SampleLikeness> looked_at;
  for (const Digest& piece : pieces) looked_at.push_back({piece, {}});
  looked_at.pop_back();  // its room was too small
  store().record_likenesses(looked_at);
  store().record_uses(pieces);
  for (const Digest& piece : pieces) EXPECT_TRUE(store().find(piece)->is_used);
  EXPECT_FALSE(store().find(pieces.back())->is_looked_at);
  const Digest fifth = cut(4, recordings[2]);
  for (const Digest& piece : pieces) EXPECT_EQ(store().find(piece)->split, Split::kTrain);
  EXPECT_EQ(store().find(fifth)->split, Split::kValidation) << "the one that no night has used";
}

TEST_F(LabelStoreScenesTest, WhatLooksLikeNothingIsOfItsOwnScene) {
  const auto a = train(), b = train();
  const std::vector<SampleLikeness> told = {{sample(a).digest, {}}, {sample(b).digest, {}}};
  use(told);
  for (const std::int64_t id : {a, b}) {
    EXPECT_TRUE(sample(id).is_looked_at);
    EXPECT_EQ(sample(id).scene, kOwnScene);
  }
}

TEST_F(LabelStoreScenesTest, WhatIsKnownOrGoneIsPassedOver) {
  const auto a = train(), b = train();
  look_at(1, {a});
  store_.reset();
  look_at(1, {b});
  EXPECT_EQ(sample(b).scene, a);
  const std::vector<SampleLikeness> told = {{sample(a).digest, look(9, 0)},
                                            {digest_of("nobody"), look(9, 0)}};
  use(told);
  EXPECT_EQ(sample(a).scene, a);
  EXPECT_EQ(store().counts().samples, 2u);
}

}  // namespace
}  // namespace moil::data
