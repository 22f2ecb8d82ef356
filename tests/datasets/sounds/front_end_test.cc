#include "datasets/sounds/front_end.h"

#include <algorithm>
#include <cmath>

#include "base/json/json.h"
#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::expect_error;
using test::tone;

std::vector<float> patch_of(const FrontEndDescription& description, std::vector<float> samples) {
  const FrontEnd front_end(description);
  FrontEnd::Memory memory(front_end);
  samples.resize(static_cast<std::size_t>(description.patch_samples()));
  std::vector<float> patch(front_end.floats());
  front_end.patch(samples, memory, patch.data());
  return patch;
}

TEST(FrontEnd, SilenceIsTheOffset) {
  const auto patch = patch_of({}, {});
  ASSERT_EQ(patch.size(), 96U * 64);
  for (const float v : patch) ASSERT_FLOAT_EQ(v, std::log(0.001F));
}

TEST(FrontEnd, AToneIsInItsBand) {
  const FrontEndDescription d;
  for (const double hertz : {300.0, 1000.0, 4000.0}) {
    const auto patch = patch_of(d, tone(16000, hertz, 1));
    const auto begin = patch.begin() + 40 * 64;
    const auto band = std::max_element(begin, begin + 64) - begin;
    const auto mel = [](double f) { return 1127 * std::log(1 + f / 700); };
    const double expected = (mel(hertz) - mel(125)) / ((mel(7500) - mel(125)) / 65) - 1;
    EXPECT_LE(std::abs(static_cast<double>(band) - expected), 1) << hertz;
  }
}

TEST(FrontEnd, PatchesCoverEverySample) {
  const FrontEndDescription d;
  EXPECT_EQ(d.patch_samples(), 15600);
  EXPECT_EQ(d.patches(1), 1);
  EXPECT_EQ(d.patches(15600), 1);
  EXPECT_EQ(d.patches(15601), 2);
  EXPECT_EQ(d.patches(15600 + 7680), 2);
  EXPECT_EQ(d.patches(5 * 16000), 10) << "as YAMNet pads five seconds";
}

TEST(FrontEnd, DifferencesFollowTheSlope) {
  FrontEndDescription d;
  d.type = FrontEndType::kLogMelDeltas;
  d.frames = d.patch_hop = 64;
  std::vector<float> rising;  // e-fold every tenth of a second
  for (const float s : tone(16000, 1000, 1))
    rising.push_back(s * 1e-2F * std::exp(static_cast<float>(rising.size()) / 1600));
  const auto patch = patch_of(d, rising);
  ASSERT_EQ(patch.size(), 64U * 64 * 3);
  const auto band = [&] {
    const float* row = patch.data() + 30 * 64 * 3;
    std::size_t best = 0;
    for (std::size_t b = 0; b < 64; ++b)
      if (row[3 * b] > row[3 * best]) best = b;
    return best;
  }();
  for (std::size_t t = 20; t < 55; ++t) {
    EXPECT_NEAR(patch[(t * 64 + band) * 3 + 1], 0.1, 0.01) << t;
    EXPECT_NEAR(patch[(t * 64 + band) * 3 + 2], 0, 0.005) << t;
  }
}

TEST(FrontEnd, IsReadAsItWasWritten) {
  FrontEndDescription d;
  d.type = FrontEndType::kLogMelDeltas;
  d.rate = 22050;
  d.window = 1024;
  d.hop = 256;
  d.fft = 2048;
  d.triangles = MelTriangles::kHertz;
  d.power = 2;
  d.low = 20;
  d.frames = d.patch_hop = 64;
  EXPECT_EQ(front_end_from_json(to_json(d)), d);
  d.triangles = MelTriangles::kSlaney;
  EXPECT_EQ(front_end_from_json(to_json(d)), d);
  EXPECT_EQ(front_end_from_json({{"type", "log_mel"}}), FrontEndDescription());
}

TEST(FrontEnd, SamplesAreAsTheyAre) {
  const auto d = front_end_from_json({{"type", "samples"}, {"rate", 8000}, {"window", 1001}});
  EXPECT_EQ(d.hop, 500);
  EXPECT_EQ(d.patch_samples(), 1001);
  EXPECT_EQ(d.patches(1001), 1);
  EXPECT_EQ(d.patches(1501), 2);
  EXPECT_EQ(d.shortest_signal(), 80U);
  EXPECT_EQ(front_end_from_json(to_json(d)), d);
  auto samples = tone(8000, 300, 1);
  samples.resize(1001);
  EXPECT_EQ(patch_of(d, samples), samples);
  for (const nlohmann::json& bad : {nlohmann::json{{"type", "samples"}},
                                    {{"type", "samples"}, {"window", 4}},
                                    {{"type", "samples"}, {"window", 2000000}},
                                    {{"type", "samples"}, {"window", 100}, {"hop", 101}},
                                    {{"type", "samples"}, {"window", 100}, {"bands", 64}}})
    expect_error(ErrorCode::kInvalidArgument, {"front_end"},
                 [&] { (void)front_end_from_json(bad); });
}

TEST(FrontEnd, RefusesWhatCannotBe) {
  const auto refused = [](nlohmann::json fields, const std::string& field) {
    fields.emplace("type", "log_mel");
    expect_error(ErrorCode::kInvalidArgument, {"front_end: ", field},
                 [&] { (void)front_end_from_json(fields); });
  };
  refused({{"type", "mfcc"}}, "'type'");
  refused({{"window", 4}}, "'window'");
  refused({{"fft", 256}}, "'fft'");
  refused({{"hop", 401}}, "'hop'");
  refused({{"high", 9000}}, "'high'");
  refused({{"low", 7600}}, "'low'");
  refused({{"power", 3}}, "'power'");
  refused({{"patch_hop", 97}}, "'patch_hop'");
  refused({{"log_offset", 0}}, "'log_offset'");
  refused({{"triangles", "bark"}}, "'triangles'");
  refused({{"octaves", 7}}, "unknown field 'octaves'");
}

}  // namespace
}  // namespace moil::data
