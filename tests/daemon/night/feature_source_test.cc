#include "daemon/night/feature_source.h"

#include <algorithm>
#include <cstring>

#include "daemon/night/judge.h"
#include "engine/graph/realizers/realizers.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

class FeatureSourceTest : public ::testing::Test {
 protected:
  FeatureSourceTest() {
    freeze_ = freeze_all_but_last(bundle_.description, 1);
    mix_ = data::mix(global_, local_, {}, 1.0, 3);
    origins_.global_images = &global_;
    origins_.local_images = &local_;
    for (const auto& s : mix_.train) samples_.push_back(&s);
  }

  Backbone backbone(std::int64_t batch) {
    return {bundle_.description, bundle_.weights, freeze_, batch, kernels_};
  }

  std::vector<float> read(FeatureReader& reader) {
    std::vector<float> features(samples_.size() * reader.elements());
    reader.read(samples_, features.data());
    return features;
  }

  ModelBundle bundle_ = small_bundle();
  Freeze freeze_;
  NumberImages global_{{"a", "b", "c"}, 9};
  NumberImages local_{{"x"}, 9, 500};
  data::Mix mix_;
  Origins origins_;
  KernelSelector kernels_;
  std::vector<const data::MixedSample*> samples_;
  TempFolder temp_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_F(FeatureSourceTest, SplitStandsBehindThePooling) {
  EXPECT_EQ(freeze_.split, "pool");
  EXPECT_EQ(backbone(4).feature_elements(), 12U);
}

TEST_F(FeatureSourceTest, AFeatureMapDoesNotDependOnItsBatch) {
  Backbone one = backbone(1), seven = backbone(7);
  FeatureReader alone(origins_, bundle_.preprocessing, one, nullptr, {});
  FeatureReader together(origins_, bundle_.preprocessing, seven, nullptr, {});
  EXPECT_TRUE(same_bits(read(alone), read(together)));
  std::reverse(samples_.begin(), samples_.end());
  EXPECT_TRUE(same_bits(read(alone), read(together)));
}

TEST_F(FeatureSourceTest, CachedAndComputedAreTheSameBits) {
  Backbone net = backbone(4);
  cache::FeatureCache cache(temp_ / "cache");
  const auto id = cache::model_id(net.fingerprint(), "p");
  cache.use_model(id, "small");
  FeatureReader cached(origins_, bundle_.preprocessing, net, &cache, id);
  FeatureReader::Filled filled;
  ASSERT_TRUE(cached.fill(samples_, filled, [](std::int64_t) { return true; }));
  EXPECT_EQ(filled.computed, static_cast<std::int64_t>(samples_.size()));
  FeatureReader computed(origins_, bundle_.preprocessing, net, nullptr, id);
  EXPECT_TRUE(same_bits(read(cached), read(computed)));

  FeatureReader::Filled again;
  ASSERT_TRUE(cached.fill(samples_, again, [](std::int64_t) { return true; }));
  EXPECT_EQ(again.computed, 0);
  EXPECT_EQ(again.reused, static_cast<std::int64_t>(samples_.size()));
}

TEST_F(FeatureSourceTest, AStoppedFillGoesOnWhereItStopped) {
  Backbone net = backbone(4);
  cache::FeatureCache cache(temp_ / "cache");
  const auto id = cache::model_id(net.fingerprint(), "p");
  cache.use_model(id, "small");
  FeatureReader reader(origins_, bundle_.preprocessing, net, &cache, id);
  FeatureReader::Filled first, second;
  EXPECT_FALSE(reader.fill(samples_, first, [](std::int64_t done) { return done < 8; }));
  EXPECT_EQ(first.computed, 8);
  EXPECT_TRUE(reader.fill(samples_, second, [](std::int64_t) { return true; }));
  EXPECT_EQ(second.reused, 8);
}

TEST_F(FeatureSourceTest, WhatTheCacheLostIsComputedAgain) {
  Backbone net = backbone(4);
  cache::FeatureCache cache(temp_ / "cache");
  const auto id = cache::model_id(net.fingerprint(), "p");
  cache.use_model(id, "small");
  FeatureReader reader(origins_, bundle_.preprocessing, net, &cache, id);
  FeatureReader::Filled filled;
  ASSERT_TRUE(reader.fill(samples_, filled, [](std::int64_t) { return true; }));
  const auto before = read(reader);
  cache.forget(cache::SampleDigest{samples_[5]->digest.bytes});
  EXPECT_TRUE(same_bits(read(reader), before));
}

TEST_F(FeatureSourceTest, TargetsShareEvenly) {
  Backbone net = backbone(4);
  FeatureReader reader(origins_, bundle_.preprocessing, net, nullptr, {});
  std::vector<data::MixedSample> samples(mix_.train.begin(), mix_.train.begin() + 2);
  samples[0].labels = {0, 2};
  samples[1].labels = {3};  // a class that a model of three has no row for
  FeatureSource source(samples, 3, reader);
  std::vector<float> inputs(2 * reader.elements()), targets(6, -1.0F);
  const std::int64_t both[] = {0, 1};
  source.read(both, inputs.data(), targets.data());
  EXPECT_EQ(targets, (std::vector<float>{0.5F, 0.0F, 0.5F, 0.0F, 0.0F, 0.0F}));
}

TEST_F(FeatureSourceTest, JudgingCountsUnknownClassesAsWrong) {
  Backbone net = backbone(4);
  FeatureReader reader(origins_, bundle_.preprocessing, net, nullptr, {});
  const auto head = realize_slice(bundle_.description, freeze_.split, freeze_.split_dims).head;
  const Judgement judgement = judge(head, bundle_.weights, mix_, reader, kernels_);
  ASSERT_TRUE(judgement.local && judgement.global);
  EXPECT_EQ(*judgement.local, 0.0);
  EXPECT_LE(*judgement.global, 1.0);
}

}  // namespace
}  // namespace moil::night
