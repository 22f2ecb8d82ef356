#include "datasets/sounds/sound_view.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/random.h"

namespace moil::data {
namespace {

constexpr double kMostGain = 6;                     // dB
constexpr double kLeastNoise = 30, kMostNoise = 5;  // dB below the signal
constexpr double kMostMasked = 0.125;
constexpr double kSilence = 1e-5;  // root of the mean square, below which nothing is mixed in

double between(Random& random, double low, double high) {
  return low + (high - low) * random.unit();
}

double decibels(double db) { return std::pow(10, db / 20); }

SoundView::Mask draw_mask(Random& random) {
  const double size = between(random, 0, kMostMasked);
  return {between(random, 0, 1 - size), size};
}

double strength_of(std::span<const float> samples) {
  double squares = 0;
  for (const float s : samples) squares += double{s} * double{s};
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, samples.size())));
}

// Its variance does not depend on its colour.
class Noise {
 public:
  explicit Noise(const NoiseSource& source)
      : random_(source.seed), colour_(source.colour), fresh_(std::sqrt(1 - colour_ * colour_)) {}

  double next() {
    double sum = 0;  // of uniform numbers, near enough to a normal one
    for (int i = 0; i < 4; ++i) sum += random_.unit() - 0.5;
    return last_ = colour_ * last_ + fresh_ * sum * std::sqrt(3.0);
  }

 private:
  Random random_;
  double colour_, fresh_, last_ = 0;
};

bool is_in(const SoundView::Mask& mask, std::int64_t place, std::int64_t places) {
  const double at = (static_cast<double>(place) + 0.5) / static_cast<double>(places);
  return at >= mask.begin && at < mask.begin + mask.size;
}

}  // namespace

SoundView sound_view_of(const Digest& sample, std::uint16_t number, std::uint32_t part) {
  SoundView view;
  if (number == 0) return view;
  Random random(derive_seed(number, "sound/" + sample.hex() + "/" + std::to_string(part)));
  view.shift = between(random, -1, 1);
  view.gain = decibels(between(random, -kMostGain, kMostGain));
  if (random.below(2) == 1) view.signal_to_noise = between(random, kMostNoise, kLeastNoise);
  view.noise_seed = random.next();
  view.noise_colour = between(random, 0, 0.95);
  view.frames = draw_mask(random);
  view.bands = draw_mask(random);
  return view;
}

void add_noise(const NoiseSource& source, double strength, std::span<float> samples) {
  Noise noise(source);
  for (float& s : samples)
    s = static_cast<float>(std::clamp(double{s} + strength * noise.next(), -1.0, 1.0));
}

void disturb(const SoundView& view, std::span<float> samples) {
  const double strength = strength_of(samples);
  double noise = 0;
  if (view.signal_to_noise && strength > kSilence)
    noise = strength * decibels(-*view.signal_to_noise);
  if (noise == 0 && view.gain == 1) return;
  double most = 1;
  for (const float s : samples) most = std::max(most, std::abs(double{s}));
  Noise source({view.noise_seed, view.noise_colour});
  for (float& s : samples) {
    double value = double{s};
    if (noise > 0) value += noise * source.next();
    s = static_cast<float>(std::clamp(view.gain * value, -most, most));
  }
}

// Of samples, a moment is silent: they have no bands.
void mask(const SoundView& view, const FrontEndDescription& d, std::span<float> patch) {
  if (!d.is_spectrogram()) {
    const auto place = [&](double share) {
      return patch.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(patch.size()));
    };
    return std::fill(place(view.frames.begin), place(view.frames.begin + view.frames.size), 0.0F);
  }
  if (view.frames.size == 0 && view.bands.size == 0) return;
  const auto channels = static_cast<std::size_t>(d.channels());
  double sum = 0;
  for (std::size_t i = 0; i < patch.size(); i += channels) sum += double{patch[i]};
  const auto mean =
      static_cast<float>(sum * static_cast<double>(channels) / static_cast<double>(patch.size()));
  float* at = patch.data();
  for (int t = 0; t < d.frames; ++t) {
    for (int b = 0; b < d.bands; ++b, at += channels) {
      if (!is_in(view.frames, t, d.frames) && !is_in(view.bands, b, d.bands)) continue;
      at[0] = mean;
      std::fill(at + 1, at + channels, 0.0F);
    }
  }
}

}  // namespace moil::data
