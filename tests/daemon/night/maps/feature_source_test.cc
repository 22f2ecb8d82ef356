#include "daemon/night/maps/feature_source.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "daemon/night/judge/judge.h"
#include "daemon/night/maps/map_split.h"
#include "datasets/sampling/per_class.h"
#include "engine/kernels/parallel.h"
#include "engine/model/realizers/realizers.h"
#include "tests/daemon/night/support.h"
#include "tests/engine/train/plain_batch.h"

namespace moil::night {
namespace {

class FeatureSourceTest : public ::testing::Test {
 protected:
  FeatureSourceTest() {
    freeze_ = freeze_all_but_last(bundle_.description, 1);
    mix_ = data::mix(global_, local_, {}, 1.0, 3);
    origins_.global_samples = &global_;
    origins_.local_samples = &local_;
    targets_.emplace(*bundle_.task, mix_, 4);
    for (const auto& s : mix_.train) samples_.push_back({&s});
  }

  Backbone& backbone(std::int64_t batch) {
    return nets_.emplace_back(bundle_.description, weights_in(bundle_), freeze_, batch, kernels_);
  }
  // Readers behind a backbone of their own: one that computes all, and one before the cache.
  FeatureReader& computing(const Augmentation& views = {}, std::int64_t batch = 4,
                           const data::KindPtr& kind = nullptr) {
    return readers_.emplace_back(origins_, kind ? kind : bundle_.kind, backbone(batch), nullptr,
                                 cache::ModelId{}, views);
  }
  FeatureReader& caching(const Augmentation& views = {}, std::int64_t batch = 4,
                         const data::KindPtr& kind = nullptr) {
    Backbone& net = backbone(batch);
    if (!cache_) open_cache({});
    const auto id = cache::model_id(net.fingerprint(), "p");
    cache_->use_model(id, "small");
    return readers_.emplace_back(origins_, kind ? kind : bundle_.kind, net, &*cache_, id, views);
  }
  void open_cache(const cache::Options& options) {
    cache_.reset();
    cache_.emplace(temp_ / ("cache" + std::to_string(caches_++)), options);
  }

  std::vector<float> read(FeatureReader& reader) {
    std::vector<float> features(samples_.size() * reader.elements());
    reader.read(samples_, features.data());
    return features;
  }

  std::vector<float> read(FeatureReader& reader, int view) {
    for (SampleView& s : samples_) s.view = static_cast<std::uint16_t>(view);
    return read(reader);
  }

  // In which every sample shows all of its faces.
  static constexpr std::int64_t kManyEpochs = 1000;
  // Training samples in all of their views; stops if `most` feature maps are there.
  static constexpr std::int64_t kNeverStop = 1 << 20;
  bool fill(FeatureReader& reader, FeatureReader::Filled& filled, std::int64_t most = kNeverStop) {
    const Portion portions[] = {{mix_.train, kManyEpochs}};
    return reader.fill(portions, filled, [&](std::int64_t done) {
      told_.push_back(done);
      return done < most;
    });
  }

  ModelBundle bundle_ = small_bundle();
  Freeze freeze_;
  NumberImages global_{{"a", "b", "c"}, 9};
  NumberImages local_{{"x"}, 9, 500};
  data::Mix mix_;
  std::optional<MixTargets> targets_;
  Origins origins_;
  KernelSelector kernels_;
  std::vector<SampleView> samples_;
  std::vector<std::int64_t> told_;
  TempFolder temp_;
  int caches_ = 0;
  std::optional<cache::FeatureCache> cache_;
  std::deque<Backbone> nets_;
  std::deque<FeatureReader> readers_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_F(FeatureSourceTest, SplitStandsBehindThePooling) {
  EXPECT_EQ(freeze_.split, "pool");
  EXPECT_EQ(backbone(4).feature_elements(), 12U);
}

TEST_F(FeatureSourceTest, AFeatureMapDoesNotDependOnItsBatch) {
  FeatureReader &alone = computing({}, 1), &together = computing({}, 7);
  EXPECT_TRUE(same_bits(read(alone), read(together)));
  std::reverse(samples_.begin(), samples_.end());
  EXPECT_TRUE(same_bits(read(alone), read(together)));
}

TEST_F(FeatureSourceTest, CachedAndComputedAreTheSameBits) {
  FeatureReader& cached = caching();
  FeatureReader::Filled filled;
  ASSERT_TRUE(fill(cached, filled));
  EXPECT_EQ(filled.computed, static_cast<std::int64_t>(samples_.size()));
  FeatureReader& computed = computing();
  EXPECT_TRUE(same_bits(read(cached), read(computed)));

  FeatureReader::Filled again;
  ASSERT_TRUE(fill(cached, again));
  EXPECT_EQ(again.computed, 0);
  EXPECT_EQ(again.reused, static_cast<std::int64_t>(samples_.size()));
}

TEST_F(FeatureSourceTest, AStoppedFillGoesOnWhereItStopped) {
  FeatureReader& reader = caching();
  FeatureReader::Filled first, second;
  EXPECT_FALSE(fill(reader, first, 8));
  EXPECT_EQ(first.computed, 8);
  EXPECT_TRUE(fill(reader, second));
  EXPECT_EQ(second.reused, 8);
}

// Images of which some cannot be read.
class DamagedImages : public NumberImages {
 public:
  using NumberImages::NumberImages;
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    if (damaged.contains(i)) throw Error(ErrorCode::kBadData, name(i) + ": it ends too early");
    if (gone.contains(i)) throw Error(ErrorCode::kNotFound, "there is no sample");
    return NumberImages::encoded(i);
  }
  std::set<std::size_t> damaged, gone;
};

class DamagedSourceTest : public FeatureSourceTest {
 protected:
  DamagedSourceTest() { origins_.local_samples = &damaged_; }
  std::size_t first_local() const {
    std::size_t i = 0;
    while (mix_.train[i].ref.source != data::Source::kLocal) ++i;
    return i;
  }
  DamagedImages damaged_{{"x"}, 9, 500};
};

TEST_F(DamagedSourceTest, AFillNamesWhatItCannotReadAndKeepsTheRest) {
  const std::size_t broken = first_local();
  damaged_.damaged = {mix_.train[broken].ref.index};
  FeatureReader& reader = caching({3, true});
  FeatureReader::Filled filled;
  ASSERT_TRUE(fill(reader, filled));
  ASSERT_EQ(filled.unreadable.size(), 1U) << "once, in whatever views";
  EXPECT_EQ(filled.unreadable[0].sample, &mix_.train[broken]);
  EXPECT_EQ(filled.unreadable[0].why, "it ends too early");
  EXPECT_EQ(filled.unreadable[0].name, damaged_.name(mix_.train[broken].ref.index));
  const auto maps = static_cast<std::int64_t>(3 * (samples_.size() - 1));
  EXPECT_EQ(filled.computed, maps);
  EXPECT_EQ(told_.back(), static_cast<std::int64_t>(3 * samples_.size()));
  EXPECT_EQ(cache_->stats().entries, static_cast<std::uint64_t>(maps));

  origins_.local_samples = &local_;
  FeatureReader& whole = computing({3, true});
  std::erase_if(samples_, [&](const SampleView& s) { return s.sample == &mix_.train[broken]; });
  EXPECT_TRUE(same_bits(read(reader, 1), read(whole, 1))) << "neighbours are not disturbed";
}

TEST_F(DamagedSourceTest, ASurveyFindsTheSameWithoutACache) {
  const std::size_t broken = first_local() + 2;
  damaged_.damaged = {mix_.train[broken].ref.index};
  FeatureReader& reader = computing();
  const Portion portions[] = {{mix_.train, kManyEpochs}, {mix_.local_validation}};
  UnreadableSamples unreadable;
  std::int64_t done = 0;
  ASSERT_TRUE(reader.survey(portions, unreadable, [&](std::int64_t n) {
    done = n;
    return true;
  }));
  ASSERT_EQ(unreadable.size(), 1U);
  EXPECT_EQ(unreadable[0].sample, &mix_.train[broken]);
  EXPECT_EQ(done, static_cast<std::int64_t>(mix_.train.size() + mix_.local_validation.size()));
}

TEST_F(DamagedSourceTest, WhatBreaksLaterIsWorthAnotherAttempt) {
  damaged_.damaged = {mix_.train[first_local()].ref.index};
  FeatureReader& reader = computing();
  EXPECT_EQ(error_of([&] { (void)read(reader); }), ErrorCode::kIo);
}

TEST_F(DamagedSourceTest, AForgottenSampleIsNoDamage) {
  damaged_.gone = {mix_.train[first_local()].ref.index};
  FeatureReader& reader = computing();
  EXPECT_THROW((void)read(reader), SampleForgotten);
}

TEST_F(FeatureSourceTest, WhatTheCacheLostIsComputedAgain) {
  FeatureReader& reader = caching();
  FeatureReader::Filled filled;
  ASSERT_TRUE(fill(reader, filled));
  const auto before = read(reader);
  cache_->forget(cache::SampleDigest{samples_[5].sample->digest.bytes});
  EXPECT_TRUE(same_bits(read(reader), before));
}

TEST_F(FeatureSourceTest, WhatDoesNotFitIsComputedEachTime) {
  const std::uint64_t five = 5 * (12 * sizeof(float) + 36 + 16);
  open_cache({.quota_bytes = five, .batch_entries = 2});
  FeatureReader& reader = caching();
  FeatureReader::Filled filled;
  ASSERT_TRUE(fill(reader, filled));
  const auto samples = static_cast<std::int64_t>(samples_.size());
  const auto stored = static_cast<std::int64_t>(cache_->stats().entries);
  EXPECT_GE(stored, 4);
  EXPECT_LT(stored, samples);
  EXPECT_EQ(filled.uncached, samples - stored);
  EXPECT_LT(filled.computed, samples) << "what cannot be kept is not computed for nothing";
  EXPECT_NE(filled.why_uncached.find("the quota of"), std::string::npos) << filled.why_uncached;
  EXPECT_EQ(told_.back(), samples);
  nets_.back().release();
  FeatureReader& computed = computing();
  EXPECT_TRUE(same_bits(read(reader), read(computed)));
}

// Whatever of them the cache kept, so that a resumed night learns from the same numbers.
TEST_F(FeatureSourceTest, WhatIsComputedIsWhatTheCacheWouldHaveStored) {
  for (const auto stored_as : {cache::StoredType::kFp32, cache::StoredType::kBf16}) {
    std::vector<std::vector<float>> all;
    for (const std::uint64_t quota : {std::uint64_t{1}, std::uint64_t{600}, std::uint64_t{0}}) {
      open_cache({.quota_bytes = quota, .stored_as = stored_as, .batch_entries = 2});
      FeatureReader& reader = caching();
      FeatureReader::Filled filled;
      ASSERT_TRUE(fill(reader, filled));
      EXPECT_EQ(filled.uncached == 0, quota == 0);
      all.push_back(read(reader));
    }
    EXPECT_TRUE(same_bits(all[0], all[1]));
    EXPECT_TRUE(same_bits(all[0], all[2]));
  }
}

TEST_F(FeatureSourceTest, CachedAndComputedViewsAreTheSameBits) {
  FeatureReader& cached = caching({3, true});
  FeatureReader& computed = computing({3, true});
  FeatureReader& plain = computing();
  FeatureReader::Filled filled;
  ASSERT_TRUE(fill(cached, filled));
  const auto samples = static_cast<std::int64_t>(samples_.size());
  EXPECT_EQ(filled.computed, 3 * samples);
  EXPECT_EQ(cache_->stats().entries, static_cast<std::uint64_t>(3 * samples));
  EXPECT_EQ(told_.back(), 3 * samples);
  EXPECT_TRUE(same_bits(read(cached, 0), read(plain)));
  for (int view = 0; view < 3; ++view) {
    const auto bits = read(computed, view);
    EXPECT_TRUE(same_bits(read(cached, view), bits)) << view;
    EXPECT_EQ(same_bits(read(plain, 0), bits), view == 0) << view;
  }
  FeatureReader::Filled again;
  ASSERT_TRUE(fill(cached, again));
  EXPECT_EQ(again.computed, 0);
  EXPECT_EQ(again.reused, 3 * samples);
}

TEST_F(FeatureSourceTest, AViewDoesNotDependOnItsNeighbours) {
  FeatureReader& reader = computing({5, true}, 7);
  std::vector<SampleView> together;
  for (const SampleView& s : samples_)
    for (std::uint16_t view = 0; view < 5; ++view) together.push_back({s.sample, view});
  std::vector<float> features(together.size() * reader.elements()), one(reader.elements());
  reader.read(together, features.data());
  for (std::size_t i = 0; i < together.size(); ++i) {
    reader.read({&together[i], 1}, one.data());
    const auto* row = features.data() + i * reader.elements();
    ASSERT_EQ(std::memcmp(row, one.data(), one.size() * sizeof(float)), 0) << i;
  }
}

TEST_F(FeatureSourceTest, KeysOfViewsDiffer) {
  FeatureReader& mirrored = computing({64, true});
  FeatureReader& upright = computing({64, false});
  std::set<cache::FeatureKey> keys;
  for (std::uint16_t view = 1; view < 64; ++view) {
    keys.insert(mirrored.key({samples_[0].sample, view}));
    keys.insert(upright.key({samples_[0].sample, view}));
  }
  EXPECT_EQ(keys.size(), 2U * 63);
  EXPECT_EQ(mirrored.key(samples_[0]), upright.key(samples_[0]));
  EXPECT_EQ(mirrored.key(samples_[0]).view, 0);
  EXPECT_EQ(upright.key({samples_[0].sample, 5}).view, 5);
  EXPECT_EQ(mirrored.key({samples_[0].sample, 5}).view, 0x8005);
}

TEST_F(FeatureSourceTest, ForgettingASampleRemovesAllOfItsViews) {
  for (const bool flip : {true, false}) {
    FeatureReader& reader = caching({4, flip});
    FeatureReader::Filled filled;
    ASSERT_TRUE(fill(reader, filled));
  }
  EXPECT_EQ(cache_->forget(cache::SampleDigest{samples_[5].sample->digest.bytes}).entries,
            1U + 3 + 3);
}

// More than are looked up at once.
TEST_F(FeatureSourceTest, ManyViewsAreFilledInParts) {
  FeatureReader& reader = caching({64, true}, 16);
  const auto maps = static_cast<std::int64_t>(64 * samples_.size());
  ASSERT_GT(maps, 1024);
  FeatureReader::Filled first, second;
  EXPECT_FALSE(fill(reader, first, 1100));
  EXPECT_TRUE(fill(reader, second));
  EXPECT_EQ(second.reused, first.computed);
  EXPECT_EQ(first.computed + second.computed, maps);
  EXPECT_EQ(told_.back(), maps);
  EXPECT_EQ(cache_->stats().entries, static_cast<std::uint64_t>(maps));
}

TEST_F(FeatureSourceTest, AnIndexNamesASampleAndItsView) {
  FeatureReader& reader = computing({3, true});
  FeatureSource source(mix_.train, *targets_, reader);
  const std::int64_t n = source.size();
  ASSERT_EQ(n, static_cast<std::int64_t>(mix_.train.size()));
  const std::int64_t indices[] = {4, 4 + n, n - 1 + 2 * n};
  std::vector<float> inputs(3 * reader.elements()), targets(12), expected(inputs.size());
  moil::test::read_plain(source, indices, inputs, targets);
  const auto at = [&](std::int64_t i) { return &mix_.train[static_cast<std::size_t>(i)]; };
  const SampleView views[] = {{at(4), 0}, {at(4), 1}, {at(n - 1), 2}};
  reader.read(views, expected.data());
  EXPECT_TRUE(same_bits(inputs, expected));
  EXPECT_TRUE(std::equal(&targets[0], &targets[4], &targets[4])) << "one sample, one label";
}

TEST_F(FeatureSourceTest, EverySampleGoesThroughItsViews) {
  FeatureReader& reader = computing({3, true});
  const FeatureSource source(mix_.train, *targets_, reader);
  const std::int64_t n = source.size();
  std::map<std::int64_t, std::set<std::int64_t>> shown;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    const auto drawn = data::epoch_order(mix_.train.size(), 1, static_cast<std::uint64_t>(epoch));
    const auto order = source.order(drawn, epoch);
    ASSERT_EQ(order.size(), drawn.size());
    std::set<std::int64_t> views;
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(order[i] % n, static_cast<std::int64_t>(drawn[i]));
      ASSERT_EQ(order[i] / n, (epoch + order[i] % n) % 3);
      shown[order[i] % n].insert(order[i] / n);
      views.insert(order[i] / n);
    }
    EXPECT_EQ(views.size(), 3U) << "an epoch mixes views";
    EXPECT_EQ(order, source.order(drawn, epoch));
  }
  for (const auto& [sample, views] : shown) EXPECT_EQ(views.size(), 3U) << sample;
}

// Images in parts, of which each is a little brighter than the one before; trained on as one, or
// one after the other.
class PartsAsOne : public data::Kind {
 public:
  explicit PartsAsOne(data::KindPtr images, data::PartTraining training = data::PartTraining::kMean)
      : images_(std::move(images)), training_(training) {}
  bool has_silence() const override { return silence; }
  bool silence = false;
  // With one thread, a batch that is decoded asks for one.
  int makers() const { return makers_; }
  std::string_view name() const override { return "parts"; }
  nlohmann::json to_json() const override { return images_->to_json(); }
  std::string fingerprint() const override { return images_->fingerprint(); }
  std::vector<Dims> inputs() const override { return images_->inputs(); }
  bool takes(std::string_view media) const override { return images_->takes(media); }
  std::optional<std::size_t> working_bytes(std::span<const std::uint8_t> head,
                                           std::uint64_t bytes) const override {
    return images_->working_bytes(head, bytes);
  }
  bool has_parts() const override { return true; }
  data::PartTraining part_training() const override { return training_; }
  std::unique_ptr<data::SampleMaker> maker(const data::ViewRules& rules) const override {
    ++makers_;
    class Brighter : public data::SampleMaker {
     public:
      Brighter(std::unique_ptr<data::SampleMaker> images, std::size_t floats)
          : images_(std::move(images)), floats_(floats) {}
      void load(std::span<const std::uint8_t> bytes, std::string_view name) override {
        images_->load(bytes, name);
      }
      void make(const data::Digest& content, data::PartView wanted, float* out) override {
        images_->make(content, {wanted.view, 0}, out);
        for (std::size_t i = 0; i < floats_; ++i) out[i] += 0.1F * static_cast<float>(wanted.part);
      }
      void release() override { images_->release(); }

     private:
      std::unique_ptr<data::SampleMaker> images_;
      std::size_t floats_;
    };
    return std::make_unique<Brighter>(images_->maker(rules), floats());
  }

 private:
  data::KindPtr images_;
  data::PartTraining training_;
  mutable std::atomic<int> makers_ = 0;
};

// One thread, so that PartsAsOne counts batches.
class BatchesTest : public FeatureSourceTest {
 protected:
  BatchesTest() { set_thread_count(1); }
  ~BatchesTest() override { set_thread_count(before_); }
  const int before_ = thread_count();
};

TEST_F(BatchesTest, WhatTheCacheHasNoRoomForIsComputedInWholeBatches) {
  const auto kind = std::make_shared<PartsAsOne>(bundle_.kind, data::PartTraining::kEach);
  FeatureReader& reader = caching({}, 8, kind);
  (void)read(reader);
  const auto batches = static_cast<int>((samples_.size() + 7) / 8);
  EXPECT_EQ(kind->makers(), batches);
  // Every third is there: what is missing between them is computed together, too.
  std::vector<float> map(reader.elements());
  for (std::size_t i = 0; i < samples_.size(); i += 3) cache_->put(reader.key(samples_[i]), map);
  cache_->flush();
  (void)read(reader);
  const auto missing = samples_.size() - (samples_.size() + 2) / 3;
  EXPECT_EQ(kind->makers() - batches, static_cast<int>((missing + 7) / 8));
}

TEST_F(BatchesTest, TheMeanOfPartsIsComputedInWholeBatches) {
  const auto kind = std::make_shared<PartsAsOne>(bundle_.kind);
  FeatureReader& reader = computing({}, 8, kind);
  for (data::MixedSample& sample : mix_.train) sample.parts = 5;
  FeatureSource source(mix_.train, *targets_, reader);
  const std::int64_t indices[] = {0, 1, 2, 3};
  std::vector<float> shown(4 * reader.elements()), targets(16);
  moil::test::read_plain(source, indices, shown, targets);
  EXPECT_EQ(kind->makers(), 3) << "20 parts";
}

struct Shown {
  data::PartTraining training = data::PartTraining::kEach;
  std::int64_t epochs = 1;
  bool silence = false;
};

class ShownFacesTest : public BatchesTest, public ::testing::WithParamInterface<Shown> {};

// What is filled is what the epochs of the source read, whatever the kind and however many they
// are: nothing is computed beside training, and nothing for nobody.
TEST_P(ShownFacesTest, WhatEpochsShowIsFilledAndNothingElse) {
  const Shown& param = GetParam();
  const auto kind = std::make_shared<PartsAsOne>(bundle_.kind, param.training);
  kind->silence = param.silence;
  for (std::size_t i = 0; i < mix_.train.size(); ++i) {
    mix_.train[i].parts = static_cast<std::uint32_t>(1 + i % 4);
    if (param.silence && i % 3 == 0) mix_.train[i].silent = {0};
  }
  FeatureReader& reader = caching({3, true}, 8, kind);
  const Portion portions[] = {{mix_.train, param.epochs, false}};
  FeatureReader::Filled filled;
  ASSERT_TRUE(reader.fill(portions, filled, [](std::int64_t) { return true; }));
  EXPECT_EQ(filled.computed, reader.feature_maps(portions));
  EXPECT_LE(static_cast<std::uint64_t>(filled.computed), count_maps(mix_, portions[0], 3, *kind));

  const int makers = kind->makers();
  FeatureSource source(mix_.train, *targets_, reader);
  std::set<std::int64_t> shown;
  for (std::int64_t epoch = 0; epoch < param.epochs; ++epoch) {
    const auto order = source.order(data::epoch_order(mix_.train.size(), 1, 1), epoch);
    std::vector<float> inputs(order.size() * reader.elements()), targets(order.size() * 4);
    moil::test::read_plain(source, order, inputs, targets);
    shown.insert(order.begin(), order.end());
  }
  EXPECT_EQ(kind->makers(), makers) << "all of it is in the cache";
  std::int64_t maps = 0;
  for (const std::int64_t index : shown) {
    const data::MixedSample& sample = mix_.train[static_cast<std::size_t>(index % source.size())];
    const bool is_silence = index / source.size() == reader.faces(sample);
    maps += is_silence || !reader.trains_on_means() ? 1 : sample.shown_parts();
  }
  EXPECT_EQ(filled.computed, maps) << "none of it is for nobody";
}

std::vector<Shown> all_shown() {
  std::vector<Shown> all;
  for (const auto training : {data::PartTraining::kEach, data::PartTraining::kMean})
    for (const bool silence : {false, true})
      for (const std::int64_t epochs : {1, 3, 7, 11, 12, 13, 30})
        all.push_back({training, epochs, silence});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, ShownFacesTest, ::testing::ValuesIn(all_shown()),
                         [](const auto& tested) {
                           const Shown& shown = tested.param;
                           const bool means = shown.training == data::PartTraining::kMean;
                           return std::to_string(shown.epochs) + (means ? "Means" : "Parts") +
                                  (shown.silence ? "AndSilence" : "");
                         });

TEST_F(FeatureSourceTest, WhereTheKindAsksForItAStepShowsTheMeanOfASamplesParts) {
  FeatureReader& reader = computing({2}, 4, std::make_shared<PartsAsOne>(bundle_.kind));
  ASSERT_TRUE(reader.trains_on_means());
  for (data::MixedSample& sample : mix_.train) sample.parts = 3;
  FeatureSource source(mix_.train, *targets_, reader);
  const std::int64_t n = source.size();
  const std::size_t drawn[] = {4};
  for (std::int64_t epoch = 0; epoch < 3; ++epoch)
    EXPECT_EQ(source.order(drawn, epoch).at(0), 4 + epoch % 2 * n) << "its two views";

  const std::int64_t indices[] = {4, 4 + n};
  std::vector<float> shown(2 * reader.elements()), targets(8), parts(6 * reader.elements());
  moil::test::read_plain(source, indices, shown, targets);
  const data::MixedSample* sample = &mix_.train[4];
  const SampleView every[] = {{sample, 0, 0}, {sample, 0, 1}, {sample, 0, 2},
                              {sample, 1, 0}, {sample, 1, 1}, {sample, 1, 2}};
  reader.read(every, parts.data());
  const std::size_t size = reader.elements();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const float* first = parts.data() + i / size * 3 * size + i % size;
    EXPECT_NEAR(shown[i], (first[0] + first[size] + first[2 * size]) / 3, 1e-5) << i;
  }
  EXPECT_NE(parts[0], parts[size]) << "parts differ";
}

// Images in parts, some of which hold no signal.
class WithSilence : public PartsAsOne {
 public:
  WithSilence(data::KindPtr images, data::PartTraining training)
      : PartsAsOne(std::move(images)), training_(training) {}
  bool has_silence() const override { return true; }
  data::PartTraining part_training() const override { return training_; }

 private:
  data::PartTraining training_;
};

TEST_F(FeatureSourceTest, WhatHoldsNoSignalTeachesNoLabelAndSilenceIsNone) {
  Backbone& net = backbone(4);
  for (const auto training : {data::PartTraining::kEach, data::PartTraining::kMean}) {
    FeatureReader reader(origins_, std::make_shared<WithSilence>(bundle_.kind, training), net,
                         nullptr, {}, {1});
    std::vector<data::MixedSample> samples = {mix_.train.front(), mix_.train.back(),
                                              mix_.train.back()};
    ASSERT_EQ(samples[0].ref.source, data::Source::kGlobal);
    ASSERT_EQ(samples[1].ref.source, data::Source::kLocal);
    for (data::MixedSample& sample : samples) sample.parts = 4;
    samples[1].silent = {0, 2};
    samples[2].silent = {0, 1, 2, 3};
    const FeatureReader::Portion portions[] = {{samples, kManyEpochs}};
    EXPECT_EQ(reader.feature_maps(portions), 4 + (2 + 1) + (4 + 1));
    FeatureSource source(samples, *targets_, reader);
    const std::vector<float> global = {1, 0, 0, 0}, own = {0, 0, 0, 1},
                             none = {1.0F / 3, 1.0F / 3, 1.0F / 3, 0};
    std::map<std::int64_t, std::map<std::vector<float>, int>> taught;
    std::set<std::int64_t> shown;
    const std::size_t drawn[] = {0, 1, 2};
    std::vector<float> inputs(3 * reader.elements()), targets(12);
    for (std::int64_t epoch = 0; epoch < 48; ++epoch) {
      const auto order = source.order(drawn, epoch);
      moil::test::read_plain(source, order, inputs, targets);
      for (std::size_t i = 0; i < 3; ++i) {
        ++taught[order[i] % 3][{targets.begin() + static_cast<std::ptrdiff_t>(4 * i),
                                targets.begin() + static_cast<std::ptrdiff_t>(4 * i + 4)}];
        shown.insert(order[i]);
      }
    }
    EXPECT_EQ(taught[0].size(), 1U) << "a pack's sample has no silence";
    EXPECT_EQ(taught[1][own], 44);
    EXPECT_EQ(taught[1][none], 4);
    EXPECT_EQ(taught[2][none], 48) << "one that is silent throughout";
    const bool each = training == data::PartTraining::kEach;
    EXPECT_EQ(shown.size(), each ? 4U + 3 + 5 : 1U + 2 + 2);
  }
}

TEST_F(FeatureSourceTest, JudgingAsksWhatHoldsASignal) {
  FeatureReader& reader = computing();
  std::vector<data::MixedSample> samples(mix_.train.begin(), mix_.train.begin() + 3);
  for (data::MixedSample& sample : samples) sample.parts = 3;
  samples[1].silent = {0, 1};
  samples[2].silent = {0, 1, 2};
  PartSource source(samples, *targets_, reader);
  std::vector<std::uint32_t> parts;
  std::vector<bool> ends;
  for (std::int64_t i = 0; i < source.size(); ++i) {
    parts.push_back(source.part(i).part);
    ends.push_back(source.ends_sample(i));
  }
  EXPECT_EQ(parts, (std::vector<std::uint32_t>{0, 1, 2, 2, 0, 1, 2}));
  EXPECT_EQ(ends, (std::vector<bool>{false, false, true, true, false, false, true}));
}

// A pack of feature maps beside local images.
class PackedMaps : public data::TableDataset<data::FeatureDataset> {
 public:
  PackedMaps() {
    table_ = data::SampleTable(std::vector<std::string>{"a", "b", "c"});
    for (data::ClassId k = 0; k < 3; ++k)
      for (int i = 0; i < 4; ++i) table_.add({k}, data::Split::kTrain);
  }
  data::Digest digest(std::size_t i) const override {
    return data::digest_of("packed " + std::to_string(i));
  }
  const std::string& backbone() const override { return name_; }
  const std::string& split_point() const override { return name_; }
  const std::vector<std::int64_t>& shape() const override { return shape_; }
  std::size_t floats() const override { return 12; }

 protected:
  void read_into(std::size_t i, float* out) const override {
    std::fill_n(out, 12, static_cast<float>(i));
  }

 private:
  std::string name_ = "pool";
  std::vector<std::int64_t> shape_ = {12};
};

TEST_F(FeatureSourceTest, APackOfFeatureMapsHasPlainViewsAlone) {
  const PackedMaps pack;
  const data::Mix mix = data::mix(pack, local_, {}, 1.0, 3);
  origins_.global_samples = nullptr;
  origins_.global_features = &pack;
  FeatureReader& reader = caching({3, true});
  const std::size_t local = mix.train.size() - 12;
  const Portion portions[] = {{mix.train, kManyEpochs}, {mix.local_validation}};
  EXPECT_EQ(reader.feature_maps(portions),
            static_cast<std::int64_t>(12 + 3 * local + mix.local_validation.size()));
  FeatureReader::Filled filled;
  std::int64_t last = 0;
  ASSERT_TRUE(reader.fill(portions, filled, [&](std::int64_t done) { return last = done, true; }));
  EXPECT_EQ(last, reader.feature_maps(portions));
  EXPECT_EQ(filled.computed, static_cast<std::int64_t>(3 * local + mix.local_validation.size()));
  const FeatureSource source(mix.train, *targets_, reader);
  const auto drawn = data::epoch_order(mix.train.size(), 1, 1);
  for (const std::int64_t index : source.order(drawn, 1)) {
    const auto sample = static_cast<std::size_t>(index % source.size());
    const bool packed = mix.train[sample].ref.source == data::Source::kGlobal;
    EXPECT_EQ(index / source.size(), packed ? 0 : (1 + static_cast<std::int64_t>(sample)) % 3);
  }
}

TEST_F(FeatureSourceTest, TargetsShareEvenly) {
  FeatureReader& reader = computing();
  std::vector<data::MixedSample> samples(mix_.train.begin(), mix_.train.begin() + 2);
  samples[0].labels = {0, 2};
  samples[1].labels = {3};  // a class that a model of three has no row for
  FeatureSource source(samples, *targets_, reader);
  std::vector<float> inputs(2 * reader.elements()), targets(6, -1.0F);
  const std::int64_t both[] = {0, 1};
  moil::test::read_plain(source, both, inputs, targets);
  EXPECT_EQ(targets, (std::vector<float>{0.5F, 0.0F, 0.5F, 0.0F, 0.0F, 0.0F}));
}

TEST_F(FeatureSourceTest, JudgingCountsUnknownClassesAsWrong) {
  FeatureReader& reader = computing();
  const auto head = realize_slice(bundle_.description, freeze_.split, freeze_.split_dims).head;
  const Judgement judgement =
      judge({head, weights_in(bundle_), *bundle_.task}, mix_, reader, kernels_);
  EXPECT_EQ(judgement.headline_local().value(), 0.0);
  EXPECT_LE(judgement.headline_global().value(), 1.0);
}

}  // namespace
}  // namespace moil::night
