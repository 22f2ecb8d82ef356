#include "datasets/sounds/sound_background.h"

#include <samplerate.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "datasets/sounds/sound_view.h"

namespace moil::data {
namespace {

constexpr double kSoftestBackground = -80, kLoudestBackground = -45;  // dB of full scale
constexpr double kBelowRecording = 20;                                // dB
constexpr std::size_t kMargin = 256;  // more than the resampler looks ahead
constexpr double kFaintest = -100;    // dB of full scale
constexpr std::size_t kStretch = 1 << 17;
constexpr std::size_t kKeptStretches = 2;  // of a thread
constexpr double kLoudness = 0.1;          // of a stretch, so that none of it is clipped

double amplitude_of(double decibels) { return std::pow(10, decibels / 20); }

double mean_square(std::span<const float> samples) {
  double squares = 0;
  for (const float s : samples) squares += double{s} * double{s};
  return squares / static_cast<double>(std::max<std::size_t>(1, samples.size()));
}

Random drawn_for(const Digest& sample, std::uint16_t view, const std::string& what) {
  return Random(derive_seed(view, what + sample.hex()));
}

std::vector<float> noise_of(const SoundBackground& background, std::size_t count) {
  std::vector<float> noise(count);
  add_noise({background.seed, background.colour}, background.level, noise);
  return noise;
}

// White noise below `band` of the frequencies: made at the rate of its band, and resampled.
std::vector<float> made_in_band(double band, std::size_t count) {
  const double made = std::ceil(static_cast<double>(count) * band);
  std::vector<float> noise(kMargin + static_cast<std::size_t>(made));
  add_noise({derive_seed(count, "band"), 0}, kLoudness, noise);
  std::vector<float> resampled(count);
  SRC_DATA data{};
  data.data_in = noise.data();
  data.input_frames = static_cast<long>(noise.size());
  data.data_out = resampled.data();
  data.output_frames = static_cast<long>(count);
  data.src_ratio = 1 / band;
  if (const int error = ::src_simple(&data, SRC_SINC_FASTEST, 1); error != 0)
    throw Error(ErrorCode::kInternal, ::src_strerror(error));
  return resampled;
}

std::size_t stretch_samples(std::size_t count) {
  return std::max(kStretch, std::bit_ceil(2 * count));
}

// A stretch of noise that backgrounds of this band are cut from, at places of their own: resampling
// for each would take longer than its front end. The band and the stretch's length alone make it.
std::span<const float> stretch_in_band(double band, std::size_t count) {
  thread_local std::map<std::pair<double, std::size_t>, std::vector<float>> made;
  const std::pair key{band, stretch_samples(count)};
  if (const auto found = made.find(key); found != made.end()) return found->second;
  if (made.size() >= kKeptStretches) made.clear();
  return made.emplace(key, made_in_band(key.first, key.second)).first->second;
}

std::vector<float> noise_in_band(const SoundBackground& background, std::size_t count) {
  if (background.band >= 1) return noise_of(background, count);
  const std::span<const float> stretch = stretch_in_band(background.band, count);
  Random random(background.seed);
  const std::size_t begin = random.below(stretch.size() - count + 1);
  // The colour's decay takes as long as it would at the rate of the band.
  const double colour = std::pow(background.colour, background.band);
  std::vector<float> noise(count);
  double last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    last = colour * last + double{stretch[begin + i]};
    noise[i] = static_cast<float>(last);
  }
  const auto gain = static_cast<float>(background.level / std::sqrt(mean_square(noise)));
  for (float& sample : noise) sample *= gain;
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

std::size_t background_bytes(std::size_t count) {
  return sizeof(float) * (kKeptStretches + 1) * stretch_samples(count);
}

bool has_signal(std::span<const float> samples, std::size_t length, double floor) {
  const double least = amplitude_of(floor) * amplitude_of(floor);
  for (std::size_t at = 0; at < samples.size(); at += length)
    if (mean_square(samples.subspan(at, std::min(length, samples.size() - at))) >= least)
      return true;
  return false;
}

}  // namespace moil::data
