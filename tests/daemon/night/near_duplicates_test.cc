#include "daemon/night/near_duplicates.h"

#include <gmock/gmock.h>

#include <atomic>

#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

// Scenes of so many frames each: soft stripes that differ by scene, a little lighter each frame.
class Scenes : public data::TableDataset<data::SampleDataset> {
 public:
  Scenes(std::size_t scenes, std::size_t frames) : frames_(frames) {
    table_ = data::SampleTable({"x"});
    for (std::size_t i = 0; i < scenes * frames; ++i)
      table_.add({0}, i % frames == 0 ? data::Split::kValidation : data::Split::kTrain);
  }
  data::Image image(std::size_t i) const {
    data::Image image;
    image.resize(36, 32, 1);
    unsigned state = static_cast<unsigned>(i / frames_) * 7919 + 17;
    std::uint8_t levels[9 * 8];
    for (auto& level : levels) {
      state = state * 1664525 + 1013904223;
      level = static_cast<std::uint8_t>((state >> 16) % 200);
    }
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 36; ++x)
        image.pixels[static_cast<std::size_t>(y * 36 + x)] =
            static_cast<std::uint8_t>(levels[y / 4 * 9 + x / 4] + 3 * (i % frames_));
    return image;
  }
  data::Digest digest(std::size_t i) const override { return data::digest_of(image(i).pixels); }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    ++reads;
    return data::encode_png(image(i));
  }
  std::string name(std::size_t i) const override { return "frame " + std::to_string(i); }

  mutable std::atomic<int> reads = 0;

 private:
  std::size_t frames_;
};

const std::function<bool()> kGoOn = [] { return true; };

struct Night {
  Night(std::size_t scenes, std::size_t frames)
      : local(scenes, frames), mix(data::mix(global, local, {}, 1, 1)) {
    local.reads = 0;
    origins.local_samples = &local;
  }
  std::optional<NearDuplicates> count(cache::FeatureCache* cache,
                                      const std::function<bool()>& may_go_on) const {
    return count_near_duplicates(mix, origins, *kind, cache, may_go_on);
  }
  NumberImages global{{"a"}, 8};
  Scenes local;
  data::Mix mix;
  Origins origins;
  data::KindPtr kind = grey_images(8);
};

// Twenty scenes of ten frames: whatever is held out has its like among what is trained on.
TEST(NearDuplicates, FramesOfAScenePerSideOfTheSplitAreCounted) {
  const Night night(20, 10);
  const auto found = night.count(nullptr, kGoOn);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->of, 20U);
  EXPECT_EQ(found->held_out, 20U);
  EXPECT_THAT(found->remark(), testing::HasSubstr("20 of 20 photos held out look nearly the same"));
}

TEST(NearDuplicates, DifferentScenesAreNone) {
  Night night(40, 1);
  for (std::size_t i = 0; i < 20; ++i) {  // half of them to the other side
    night.mix.train.push_back(night.mix.local_validation.back());
    night.mix.local_validation.pop_back();
  }
  const auto found = night.count(nullptr, kGoOn);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->of, 20U);
  EXPECT_EQ(found->held_out, 0U);
  EXPECT_EQ(found->remark(), "");
}

TEST(NearDuplicates, AnotherNightDecodesNothing) {
  const TempFolder temp;
  const Night night(3, 4);
  for (const auto type : {cache::StoredType::kFp32, cache::StoredType::kBf16}) {
    cache::FeatureCache cache(temp / (type == cache::StoredType::kBf16 ? "bf16" : "fp32"),
                              {.stored_as = type});
    for (const int reads : {12, 0}) {
      night.local.reads = 0;
      const auto found = night.count(&cache, kGoOn);
      EXPECT_EQ(found.value().held_out, 3U);
      EXPECT_EQ(night.local.reads, reads);
      cache.flush();
    }
    cache.forget(cache::SampleDigest{night.mix.local_validation[0].digest.bytes});
    night.local.reads = 0;
    (void)night.count(&cache, kGoOn);
    EXPECT_EQ(night.local.reads, 1) << "a hash is forgotten with its photo";
  }
}

TEST(NearDuplicates, AFullCacheKeepsNoHash) {
  const TempFolder temp;
  const Night night(3, 4);
  cache::FeatureCache cache(temp / "cache", {.quota_bytes = 1});
  EXPECT_EQ(night.count(&cache, kGoOn).value().held_out, 3U);
}

// One photo at a time where the room is for one alone; none where there is room for none.
TEST(NearDuplicates, PhotosAreDecodedWithinTheRoom) {
  Night night(3, 4);
  std::size_t largest = 0;
  for (std::size_t i = 0; i < night.local.size(); ++i)
    largest = std::max(largest, decoding_bytes(night.local, i, *night.kind));
  DecodingRoom for_one(largest), for_none(1);
  night.origins.room = &for_one;
  EXPECT_EQ(night.count(nullptr, kGoOn).value().held_out, 3U);
  night.origins.room = &for_none;
  EXPECT_EQ(night.count(nullptr, kGoOn).value().held_out, 0U);
}

TEST(NearDuplicates, StopsWhenAsked) {
  const Night night(3, 4);
  EXPECT_FALSE(night.count(nullptr, [] { return false; }));
}

}  // namespace
}  // namespace moil::night
