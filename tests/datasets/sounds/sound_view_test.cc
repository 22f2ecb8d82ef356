#include "datasets/sounds/sound_view.h"

#include <cmath>
#include <set>

#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

const Digest kSample = digest_of("a sound");

double strength_of_view(std::span<const float> samples) {
  double squares = 0;
  for (const float s : samples) squares += double{s} * double{s};
  return std::sqrt(squares / static_cast<double>(samples.size()));
}

TEST(SoundView, TheFirstIsPlain) {
  EXPECT_EQ(sound_view_of(kSample, 0, 3), SoundView());
  std::vector<float> samples = test::tone(16000, 440, 0.1);
  const auto before = samples;
  disturb({}, samples);
  EXPECT_EQ(samples, before);
}

TEST(SoundView, OthersAreWithinTheirRangesAndAlwaysTheSame) {
  std::set<double> shifts;
  int noisy = 0;
  for (std::uint16_t n = 1; n <= 200; ++n) {
    const SoundView view = sound_view_of(kSample, n, 0);
    EXPECT_EQ(view, sound_view_of(kSample, n, 0));
    EXPECT_NE(view, sound_view_of(kSample, n, 1));
    EXPECT_LE(std::abs(view.shift), 1);
    EXPECT_LE(std::abs(20 * std::log10(view.gain)), 6.0001);
    noisy += view.signal_to_noise ? 1 : 0;
    for (const SoundView::Mask& m : {view.frames, view.bands}) {
      EXPECT_GE(m.begin, 0);
      EXPECT_LE(m.begin + m.size, 1);
      EXPECT_LE(m.size, 0.125);
    }
    shifts.insert(view.shift);
  }
  EXPECT_EQ(shifts.size(), 200U);
  EXPECT_NEAR(noisy, 100, 30);
}

TEST(SoundView, NoiseHasItsStrengthWhateverItsColour) {
  for (const double colour : {0.0, 0.5, 0.95}) {
    SoundView view;
    view.signal_to_noise = 20;
    view.noise_seed = 3;
    view.noise_colour = colour;
    std::vector<float> samples = test::tone(16000, 440, 2), noise = samples;
    disturb(view, samples);
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = samples[i] - noise[i];
    EXPECT_NEAR(
        20 * std::log10(strength_of_view(test::tone(16000, 440, 2)) / strength_of_view(noise)), 20,
        0.7)
        << colour;
  }
  SoundView view;
  view.signal_to_noise = 5;
  std::vector<float> silence(1000);
  disturb(view, silence);
  EXPECT_EQ(silence, std::vector<float>(1000)) << "nothing is as loud as silence";
}

TEST(SoundView, LoudSamplesStayWithinTheirRange) {
  SoundView view;
  view.gain = 2;
  std::vector<float> samples = {0.9F, -0.9F, 0.25F};
  disturb(view, samples);
  EXPECT_EQ(samples, (std::vector<float>{1, -1, 0.5F}));
}

TEST(SoundView, MasksCoverTheirPart) {
  FrontEndDescription d;
  d.type = FrontEndType::kLogMelDeltas;
  SoundView view;
  view.frames = {0.25, 0.125};
  view.bands = {0.5, 0.0625};
  std::vector<float> patch(static_cast<std::size_t>(d.frames * d.bands * 3));
  for (std::size_t i = 0; i < patch.size(); ++i) patch[i] = i % 3 == 0 ? (i % 2 == 0 ? 1 : 3) : 7;
  mask(view, d, patch);
  int masked = 0;
  for (int t = 0; t < d.frames; ++t)
    for (int b = 0; b < d.bands; ++b) {
      const float* at = &patch[static_cast<std::size_t>((t * d.bands + b) * 3)];
      const bool is_masked = (t >= 24 && t < 36) || (b >= 32 && b < 36);
      EXPECT_EQ(at[1] == 0 && at[2] == 0, is_masked) << t << " " << b;
      if (is_masked) {
        EXPECT_FLOAT_EQ(at[0], 2);
      }
      masked += is_masked ? 1 : 0;
    }
  EXPECT_EQ(masked, 12 * 64 + 4 * 96 - 12 * 4);
}

TEST(SoundView, OfSamplesAMomentIsSilent) {
  FrontEndDescription d;
  d.type = FrontEndType::kSamples;
  SoundView view;
  view.frames = {0.5, 0.25};
  view.bands = {0, 0.125};
  std::vector<float> samples(8, 1);
  mask(view, d, samples);
  EXPECT_EQ(samples, (std::vector<float>{1, 1, 1, 1, 0, 0, 1, 1}));
}

}  // namespace
}  // namespace moil::data
