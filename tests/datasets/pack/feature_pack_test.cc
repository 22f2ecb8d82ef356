#include "datasets/pack/feature_pack.h"

#include <cmath>
#include <limits>

#include "base/files/file.h"
#include "base/half_floats.h"
#include "base/random.h"
#include "datasets/pack/sample_pack.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;

constexpr int kSamples = 9;

float value(int sample, int k) { return std::ldexp(static_cast<float>(sample * 31 + k) - 20, -3); }

class FeaturePackTest : public ::testing::Test {
 protected:
  FeaturePackTest() { backbone_ = {"0123abcd", "block_5/out", {1, 3, 5}, FeatureType::kFloat32}; }
  void write(PackOptions options = {}) {
    FeaturePackWriter writer(pack(), {"a", "b", "c"}, kind_, backbone_, options);
    for (int i = 0; i < kSamples; ++i) {
      std::vector<float> features;
      for (int k = 0; k < 15; ++k) features.push_back(value(i, k));
      std::vector<ClassId> labels = {static_cast<ClassId>(i % 3)};
      if (i == 4) labels = {2, 0};
      writer.add(i % 4 ? Split::kTrain : Split::kValidation, labels, digest(i), features);
    }
    writer.finish();
  }
  static Digest digest(int i) { return digest_of("sample " + std::to_string(i)); }
  std::filesystem::path pack() const { return folder_ / "pack"; }
  std::filesystem::path shard() const { return pack() / "train-00000.safetensors"; }
  // A shard that was changed with its checksum put right, so that the reader itself is asked.
  void refused(const std::vector<std::uint8_t>& bytes, const std::vector<std::string>& fragments) {
    test::write_bytes(shard(), bytes);
    auto manifest = parsed_json(read_text(pack() / "pack.json"));
    manifest["shards"][0]["bytes"] = bytes.size();
    manifest["shards"][0]["xxh3_128"] = checksum_of(shard()).hex();
    write_file_atomic(pack() / "pack.json", manifest.dump());
    expect_error(ErrorCode::kBadData, fragments, [&] { (void)open_feature_pack(pack()); });
  }
  test::TempFolder folder_;
  KindPtr kind_ = test::rgb_images(8);
  PackBackbone backbone_;
};

TEST_F(FeaturePackTest, HoldsTheSameFeatures) {
  for (const FeatureType type : {FeatureType::kFloat32, FeatureType::kBfloat16}) {
    for (const std::uint64_t shard_bytes : {1 << 20, 100}) {
      std::filesystem::remove_all(pack());
      backbone_.type = type;
      write({shard_bytes});
      const auto opened = open_feature_pack(pack());
      ASSERT_EQ(opened->size(), static_cast<std::size_t>(kSamples));
      EXPECT_EQ(opened->shape(), backbone_.shape);
      EXPECT_EQ(opened->backbone(), "0123abcd");
      EXPECT_EQ(opened->split_point(), "block_5/out");
      int found = 0;
      for (std::size_t i = 0; i < opened->size(); ++i) {
        for (int j = 0; j < kSamples; ++j) {
          if (opened->digest(i) != digest(j)) continue;
          ++found;
          EXPECT_EQ(opened->split(i), j % 4 ? Split::kTrain : Split::kValidation);
          std::vector<float> features(opened->floats());
          opened->read(i, features);
          for (int k = 0; k < 15; ++k) {
            const float expected = value(j, k);
            EXPECT_EQ(features[static_cast<std::size_t>(k)],
                      type == FeatureType::kFloat32 ? expected : from_bf16(to_bf16(expected)));
          }
          if (j == 4) {
            EXPECT_THAT(opened->labels(i), ElementsAre(0, 2));
          }
        }
      }
      EXPECT_EQ(found, kSamples);
    }
  }
}

TEST_F(FeaturePackTest, KnowsWhatTheModelAnsweredAndWhatIsDescribed) {
  PackOptions options;
  options.targets = PackTargets::kModel;
  FeaturePackWriter writer(pack(), {"a", "b", "c"}, kind_, backbone_, options);
  const std::vector<float> features(15, 1);
  const std::vector<ClassId> label = {1};
  writer.add(Split::kTrain, label, digest(0), features);
  writer.add(Split::kValidation, label, digest(1), features);
  writer.add(Split::kTrain, label, digest(2), features, true);
  writer.add(Split::kValidation, label, digest(3), features, true);
  writer.set_reached(1);
  writer.finish();
  const auto opened = open_feature_pack(pack());
  EXPECT_EQ(opened->manifest().targets, PackTargets::kModel);
  EXPECT_EQ(opened->manifest().reached, 1U);
  ASSERT_EQ(opened->size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(opened->is_described(i),
              opened->digest(i) == digest(2) || opened->digest(i) == digest(3));
  auto manifest = parsed_json(read_text(pack() / "pack.json"));
  manifest["targets"] = "dice";
  write_file_atomic(pack() / "pack.json", manifest.dump());
  expect_error(ErrorCode::kBadData, {"targets", "dice"}, [&] { (void)read_manifest(pack()); });
  manifest["targets"] = "model";
  manifest["reached"] = 4;
  write_file_atomic(pack() / "pack.json", manifest.dump());
  expect_error(ErrorCode::kBadData, {"reached"}, [&] { (void)read_manifest(pack()); });
}

TEST_F(FeaturePackTest, ATorsoIsNoPack) {
  {
    FeaturePackWriter writer(pack(), {"a"}, kind_, backbone_);
    writer.add(Split::kTrain, std::vector<ClassId>{0}, digest(0), std::vector<float>(15));
  }
  expect_error(ErrorCode::kNotFound, {"pack.json"}, [&] { (void)open_feature_pack(pack()); });
}

TEST_F(FeaturePackTest, WhatDoesNotFitIsNotWritten) {
  FeaturePackWriter writer(pack(), {"a", "b"}, kind_, backbone_);
  const auto add = [&](std::vector<ClassId> labels, std::size_t floats) {
    writer.add(Split::kTrain, labels, digest(0), std::vector<float>(floats));
  };
  expect_error(ErrorCode::kInvalidArgument, {"14", "15"}, [&] { add({0}, 14); });
  expect_error(ErrorCode::kInvalidArgument, {"labels"}, [&] { add({2}, 15); });
  expect_error(ErrorCode::kInvalidArgument, {"labels"}, [&] { add({1, 1}, 15); });
  expect_error(ErrorCode::kInvalidArgument, {"labels"}, [&] { add({}, 15); });
}

// Rows of another size are another backbone's, and what lies behind them is not the pack's.
TEST_F(FeaturePackTest, MapsAreWrittenOnlyWhereTheyFit) {
  write();
  const auto opened = open_feature_pack(pack());
  for (const std::size_t room : {opened->floats() - 1, opened->floats() + 1, std::size_t{0}}) {
    std::vector<float> features(room, -1.0F);
    expect_error(ErrorCode::kInvalidArgument, {"15 numbers", std::to_string(room)},
                 [&] { opened->read(0, features); });
    EXPECT_EQ(features, std::vector<float>(room, -1.0F));
  }
}

TEST_F(FeaturePackTest, TheOtherKindIsRefused) {
  write();
  expect_error(ErrorCode::kFailedPrecondition, {"feature maps"},
               [&] { (void)open_sample_pack(pack()); });
}

TEST_F(FeaturePackTest, AChangedByteIsFound) {
  write();
  auto bytes = read_file(shard(), 1 << 20);
  bytes[1100] ^= 1;
  test::write_bytes(shard(), bytes);
  expect_error(ErrorCode::kBadData, {"checksum"}, [&] { (void)open_feature_pack(pack()); });
}

TEST_F(FeaturePackTest, DamagedShardsAreRefusedByTheirContentToo) {
  write();
  const auto good = read_file(shard(), 1 << 20);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text(good.begin(), good.end());
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return std::vector<std::uint8_t>(text.begin(), text.end());
  };
  refused(replaced("\"F32\"", "\"F64\""), {"features", "F32"});
  refused(replaced("[6,1,3,5]", "[6,3,1,5]"), {"shape"});
  refused(replaced("digests", "digestz"), {"\"digests\" is missing"});
  refused(replaced("{\"d", "[\"d"), {"syntax error"});
  refused({1, 2, 3}, {"too small"});
  auto huge = good;
  huge[7] = 0x7f;
  refused(huge, {"header"});
  auto labels = good;
  labels[labels.size() - 6 * 16 - 1] = 0x7f;  // the last label's highest byte
  refused(labels, {"no class"});
  auto cut = good;
  cut.resize(cut.size() - 16);
  refused(cut, {"may be truncated"});
}

TEST_F(FeaturePackTest, DamageIsSurvived) {
  write();
  const auto good = read_file(shard(), 1 << 20);
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    auto bytes = good;
    bytes[random.below(trial % 2 ? 500 : bytes.size())] =
        static_cast<std::uint8_t>(random.below(256));
    test::write_bytes(shard(), bytes);
    try {
      const FeatureShard opened(shard(), backbone_, 6, 3);
      std::vector<float> features(15);
      for (std::size_t i = 0; i < opened.size(); ++i) opened.read(i, features.data());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadData) << error.what();
    }
  }
}

}  // namespace
}  // namespace moil::data
