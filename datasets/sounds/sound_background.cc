#include "datasets/sounds/sound_background.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "datasets/sounds/sound_view.h"

namespace moil::data {
namespace {

constexpr double kSoftestBackground = -80, kLoudestBackground = -45;  // dB of full scale
constexpr double kBelowRecording = 20;                                // dB
constexpr double kOfBand = 0.9;     // that the filter lets through
constexpr double kFaintest = -100;  // dB of full scale

double amplitude_of(double decibels) { return std::pow(10, decibels / 20); }

double mean_square(std::span<const float> samples) {
  double squares = 0;
  for (const float s : samples) squares += double{s} * double{s};
  return squares / static_cast<double>(std::max<std::size_t>(1, samples.size()));
}

Random drawn_for(const Digest& sample, std::uint16_t view, const std::string& what) {
  return Random(derive_seed(view, what + sample.hex()));
}

// A Butterworth filter of order eight, up to just below the share `band` of all frequencies.
void keep_below(double band, std::span<float> samples) {
  const double angle = M_PI * kOfBand * band, cosine = std::cos(angle);
  for (const double quality : {0.5098, 0.6013, 0.9000, 2.5629}) {
    const double alpha = std::sin(angle) / (2 * quality), scale = 1 / (1 + alpha);
    const double forward = (1 - cosine) / 2 * scale;
    const double back1 = -2 * cosine * scale, back2 = (1 - alpha) * scale;
    double state1 = 0, state2 = 0;
    for (float& s : samples) {
      const double in = double{s}, out = forward * in + state1;
      state1 = 2 * forward * in - back1 * out + state2;
      state2 = forward * in - back2 * out;
      s = static_cast<float>(out);
    }
  }
}

std::vector<float> noise_in_band(const SoundBackground& background, std::size_t count) {
  std::vector<float> noise(count);
  add_noise({background.seed, background.colour}, background.level, noise);
  if (background.band >= 1) return noise;
  keep_below(background.band, noise);
  const double factor = background.level / std::max(1e-12, std::sqrt(mean_square(noise)));
  for (float& s : noise) s = static_cast<float>(factor * double{s});
  return noise;
}

}  // namespace

SoundBackground background_of(const Digest& sample, std::uint16_t view, std::uint32_t part,
                              std::span<const float> recording) {
  Random random = drawn_for(sample, view, "background/" + std::to_string(part) + "/");
  SoundBackground background;
  const double within = random.unit();
  background.place = view == 0 ? part / (kShortPlaces - 1.0) : (part + within) / kShortPlaces;
  const double level =
      kSoftestBackground + (kLoudestBackground - kSoftestBackground) * random.unit();
  background.level = std::min(amplitude_of(level),
                              std::sqrt(mean_square(recording)) * amplitude_of(-kBelowRecording));
  background.seed = random.next();
  background.colour = 0.95 * random.unit();
  return background;
}

SoundBackground silence_of(const Digest& sample, std::uint16_t view) {
  Random random = drawn_for(sample, view, "silence/");
  SoundBackground background;
  const bool is_digital = random.below(4) == 0;
  const double level = kFaintest + (kLoudestBackground - kFaintest) * random.unit();
  if (!is_digital) background.level = amplitude_of(level);
  background.seed = random.next();
  background.colour = 0.95 * random.unit();
  return background;
}

void lay(std::span<const float> recording, const SoundBackground& background,
         std::span<float> patch) {
  std::ranges::fill(patch, 0.0F);
  const auto room = static_cast<double>(patch.size() - recording.size());
  const auto begin = static_cast<std::ptrdiff_t>(std::llround(background.place * room));
  std::ranges::copy(recording, patch.begin() + begin);
  if (background.level == 0) return;
  const std::vector<float> noise = noise_in_band(background, patch.size());
  for (std::size_t i = 0; i < patch.size(); ++i) patch[i] += noise[i];
}

bool has_signal(std::span<const float> samples, std::size_t length, double floor) {
  const double least = amplitude_of(floor) * amplitude_of(floor);
  for (std::size_t at = 0; at < samples.size(); at += length)
    if (mean_square(samples.subspan(at, std::min(length, samples.size() - at))) >= least)
      return true;
  return false;
}

}  // namespace moil::data
