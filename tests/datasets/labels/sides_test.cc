// On which side samples lie follows from what is there, not from the order in which it came.
#include "datasets/labels/sides.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "datasets/labels/label_store.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::photo;

using Labels = std::vector<std::string>;

struct Clip {
  std::string content;
  Labels labels;
  std::optional<Split> split;
  std::optional<Digest> recording;
  std::optional<Likeness> look;
};

Digest digest_of_clip(const Clip& clip) { return digest_of(bytes_of(photo(clip.content))); }

// What is there in the end: labels of 1 to 20 clips, clips of several labels, recordings with their
// pieces, and what the user chose.
std::vector<Clip> clips_of(int world) {
  Random random(static_cast<std::uint64_t>(world));
  std::vector<Clip> clips;
  const auto named = [&](std::size_t label) { return "label " + std::to_string(label); };
  for (std::size_t label = 0; label < 8; ++label) {
    const std::size_t count = label == 7 ? 12 : 1 + random.below(4);
    for (std::size_t i = 0; i < count; ++i) {
      Clip clip{
          std::to_string(world) + "/" + std::to_string(clips.size()), {named(label)}, {}, {}, {}};
      if (random.below(2) == 0) clip.labels.push_back(named(random.below(8)));
      std::ranges::sort(clip.labels);
      clip.labels.erase(std::unique(clip.labels.begin(), clip.labels.end()), clip.labels.end());
      if (random.below(12) == 0)
        clip.split = random.below(2) == 0 ? Split::kTrain : Split::kValidation;
      if (!clips.empty() && random.below(5) == 0)
        clip.recording = digest_of_clip(clips[random.below(clips.size())]);
      clips.push_back(std::move(clip));
    }
  }
  return clips;
}

// Frames of films, which show now this and now that: each is like the next, not like all.
void give_looks(std::vector<Clip>& clips, int world) {
  Random random(static_cast<std::uint64_t>(1000 + world));
  std::vector<Likeness> films;
  for (int i = 0; i < 2; ++i) films.push_back({random.next(), random.next()});
  for (Clip& clip : clips) {
    Likeness look = films[random.below(films.size())];
    const std::uint64_t frame = random.below(64);
    look.across ^= (std::uint64_t{1} << frame) - 1;
    if (random.below(8) != 0) clip.look = look;
  }
}

// One way to come there: each clip by a way of its own, in any order, with things that are taken
// back or forgotten in between.
class Way {
 public:
  Way(LabelStore& store, std::vector<Clip> clips, std::uint64_t seed)
      : store_(store), clips_(std::move(clips)), random_(seed) {}

  void go() {
    random_.shuffle(std::span(clips_));
    std::vector<const Clip*> later;
    for (const Clip& clip : clips_) {
      detour();
      if (begin(clip)) later.push_back(&clip);
    }
    random_.shuffle(std::span(later));
    for (const Clip* clip : later) {
      detour();
      if (random_.below(3) == 0) look_at(*clip);
      end(*clip);
    }
  }
  // With nights: each uses all that is there, and looks at it before, here and there.
  void go_with_nights(std::size_t nights) {
    const std::vector<Clip> all = clips_;
    for (std::size_t night = 0; night < nights; ++night) {
      const std::size_t from = all.size() * night / nights, to = all.size() * (night + 1) / nights;
      clips_.assign(all.begin() + static_cast<std::ptrdiff_t>(from),
                    all.begin() + static_cast<std::ptrdiff_t>(to));
      go();
      use(std::span(all).first(to));
      for (int i = 0; i < 10; ++i) detour();
    }
  }

 private:
  void look_at(const Clip& clip) {
    const SampleLikeness told{digest_of_clip(clip), clip.look};
    store_.record_likenesses({&told, 1});
  }

  void use(std::span<const Clip> clips) {
    std::vector<Clip> some(clips.begin(), clips.end());
    random_.shuffle(std::span(some));
    std::vector<Digest> used;
    for (const Clip& clip : some) {
      look_at(clip);
      used.push_back(digest_of_clip(clip));
    }
    store_.record_uses(used);
  }

  Digest add(const Clip& clip, const Labels& labels) {
    return store_
        .add_sample(bytes_of(photo(clip.content)), labels, clip.split, {}, {}, clip.recording)
        .digest;
  }

  // Whether it has other labels yet than it will have.
  bool begin(const Clip& clip) {
    const std::size_t way = random_.below(4);
    add(clip, way == 0   ? clip.labels
              : way == 1 ? Labels()
              : way == 2 ? Labels{"label " + std::to_string(random_.below(8))}
                         : Labels{"a name that goes"});
    return way != 0;
  }

  void end(const Clip& clip) {
    const Digest digest = digest_of_clip(clip);
    if (clip.labels.size() == 1 && random_.below(2) == 0)
      store_.assign(std::span(&digest, 1), clip.labels);
    else
      store_.relabel(digest, clip.labels);
  }

  // What leaves nothing behind.
  void detour() {
    const auto known = store_.samples();  // some of them
    if (known.empty()) return;
    const SampleRecord& one = known[random_.below(known.size())];
    const Digest some = one.digest;
    switch (random_.below(10)) {
      case 0:
        if (store_.assign(std::span(&some, 1), Labels{"label 2"}) > 0) store_.undo();
        break;
      case 1:
        store_.set_reconciliation("label 3", Labels{"a class " + std::to_string(random_.below(9))});
        break;
      case 2: {
        const Clip extra{"extra " + std::to_string(extra_++), {"label 1"}, {}, some, some_look()};
        const Digest added = add(extra, extra.labels);
        look_at(extra);
        store_.forget(added);
        break;
      }
      case 4:  // all of its first label, there and back
        if (!one.labels.empty() && random_.below(5) == 0) move_all(one.labels[0]);
        break;
      case 3:
        if (const auto labels = store_.labels(); !labels.empty()) {
          store_.rename_label(labels.front().name, "for a moment");
          store_.rename_label("for a moment", labels.front().name);
        }
        break;
      default:
        break;
    }
  }

  std::optional<Likeness> some_look() { return clips_[random_.below(clips_.size())].look; }

  void move_all(const std::string& label) {
    SampleQuery query;
    query.label = label;
    const auto carriers = store_.samples(query);
    for (const SampleRecord& sample : carriers)
      store_.assign(std::span(&sample.digest, 1),
                    random_.below(2) == 0 ? Labels() : Labels{"another moment"});
    for (const SampleRecord& sample : carriers)
      store_.assign(std::span(&sample.digest, 1), sample.labels);
  }

  LabelStore& store_;
  std::vector<Clip> clips_;
  Random random_;
  int extra_ = 0;
};

std::map<Digest, Split> sides_by(const std::vector<Clip>& clips, std::uint64_t way) {
  const test::TempFolder folder;
  LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
  Way(store, clips, way).go();
  std::map<Digest, Split> sides;
  std::map<std::string, std::map<Split, int>> of_label;
  std::map<std::int64_t, std::set<Split>> of_scene;
  SampleQuery all;
  all.limit = 1000;
  for (const SampleRecord& sample : store.samples(all)) {
    sides[sample.digest] = sample.split;
    for (const auto& label : sample.labels) ++of_label[label][sample.split];
  }
  EXPECT_EQ(sides.size(), clips.size());
  for (const Clip& clip : clips) {
    if (clip.split) {
      EXPECT_EQ(sides.at(digest_of_clip(clip)), *clip.split);
    }
  }
  for (auto& [label, counts] : of_label) {
    const auto of = [&, &name = label](const Clip& clip) {
      return std::ranges::find(clip.labels, name) != clip.labels.end();
    };
    const bool may_be_trained = std::ranges::any_of(
        clips, [&](const Clip& clip) { return of(clip) && clip.split != Split::kValidation; });
    EXPECT_TRUE(!may_be_trained || counts[Split::kTrain] > 0) << label;
  }
  return sides;
}

TEST(Sides, TheSameClipsAreHeldOutByWhateverWayTheyCame) {
  int held_out = 0;
  for (int world = 0; world < 6; ++world) {
    const auto clips = clips_of(world);
    const auto first = sides_by(clips, 1);
    for (const auto& [digest, side] : first) held_out += side == Split::kValidation;
    for (std::uint64_t way = 2; way < 4; ++way)
      EXPECT_EQ(sides_by(clips, way), first) << "world " << world << ", way " << way;
  }
  EXPECT_GT(held_out, 20) << "there is something that could differ";
}

// The side of each, and the first of its scene by content.
using Places = std::map<Digest, std::pair<Split, Digest>>;

Places places_in(const LabelStore& store) {
  SampleQuery all;
  all.limit = 1000;
  std::map<std::int64_t, Digest> first;
  const auto samples = store.samples(all);
  for (const SampleRecord& sample : samples) {
    const auto at = first.emplace(sample.scene, sample.digest).first;
    at->second = std::min(at->second, sample.digest);
  }
  Places places;
  for (const SampleRecord& sample : samples)
    places[sample.digest] = {sample.split,
                             sample.scene == 0 ? sample.digest : first.at(sample.scene)};
  return places;
}

// What a night trains on is no evidence from then on; else nothing depends on what came first, nor
// on when who was looked at.
TEST(Sides, TheSameNightsLeaveTheSameSidesWhateverWayTheSamplesCame) {
  int held_out = 0, in_scenes = 0;
  for (int world = 0; world < 4; ++world) {
    auto clips = clips_of(world);
    give_looks(clips, world);
    std::optional<Places> first;
    for (std::uint64_t way = 1; way < 4; ++way) {
      const test::TempFolder folder;
      LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
      Way(store, clips, way).go_with_nights(3);
      const Places places = places_in(store);
      EXPECT_EQ(places.size(), clips.size());
      if (!first) first = places;
      EXPECT_EQ(places, *first) << "world " << world << ", way " << way;
    }
    for (const auto& [digest, place] : *first) {
      held_out += place.first == Split::kValidation;
      in_scenes += place.second != digest;
    }
  }
  EXPECT_GT(held_out, 5) << "there is something that could differ";
  EXPECT_GT(in_scenes, 25);
}

// Back and forth, as whoever is not sure does.
TEST(Sides, AssigningBackAndForthFlipsNothing) {
  const test::TempFolder folder;
  LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
  std::vector<Digest> digests;
  for (int i = 0; i < 16; ++i)
    digests.push_back(store
                          .add_sample(bytes_of(photo("clip " + std::to_string(i))),
                                      Labels{i % 2 == 0 ? "even" : "odd"})
                          .digest);
  const auto sides = [&] {
    std::vector<Split> found;
    for (const Digest& digest : digests) found.push_back(store.find(digest)->split);
    return found;
  };
  const auto before = sides();
  for (const Digest& digest : digests) {
    const Labels own = store.find(digest)->labels;
    store.assign(std::span(&digest, 1), Labels{own[0] == "odd" ? "even" : "odd"});
    store.assign(std::span(&digest, 1), Labels{});
    store.assign(std::span(&digest, 1), own);
    EXPECT_EQ(sides(), before);
  }
}

TEST(Sides, ALabelOfFiveIsJudgedByOneAndLearnedFromTheOthers) {
  for (int label = 0; label < 30; ++label) {
    const test::TempFolder folder;
    LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
    for (int i = 0; i < 5; ++i) {
      store.add_sample(bytes_of(photo(std::to_string(label) + "/" + std::to_string(i))),
                       Labels{"a"});
      EXPECT_LT(store.labels()[0].validation, store.labels()[0].samples);
    }
    EXPECT_GE(store.labels()[0].validation, 1u);
  }
}

}  // namespace
}  // namespace moil::data
