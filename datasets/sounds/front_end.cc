#include "datasets/sounds/front_end.h"

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <new>
#include <numbers>

#include "base/error.h"
#include "base/json/json.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {
namespace {

constexpr int kMostSamples = 1 << 16, kMostPlain = 1 << 20, kMostFrames = 1 << 12,
              kMostBands = 1 << 10;
constexpr int kReach = 2;  // frames to each side that a difference looks at

double mel_of(double hertz) { return 1127 * std::log1p(hertz / 700); }
double hertz_of(double mel) { return 700 * std::expm1(mel / 1127); }

// Malcolm Slaney's scale: straight below 1,000 Hz, 15 of its mels, and logarithmic above.
constexpr double kBend = 1000, kMelsToBend = 15;
const double kMelsAFold = 27 / std::log(6.4);
double slaney_of(double hertz) {
  return hertz < kBend ? hertz / kBend * kMelsToBend
                       : kMelsToBend + kMelsAFold * std::log(hertz / kBend);
}
double hertz_of_slaney(double mel) {
  return mel < kMelsToBend ? mel / kMelsToBend * kBend
                           : kBend * std::exp((mel - kMelsToBend) / kMelsAFold);
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "front_end: " + what);
}

void require_range(const char* field, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high)
    fail("'" + std::string(field) + "' is " + std::to_string(value) + ", expected " +
         std::to_string(low) + " to " + std::to_string(high));
}

void check(const FrontEndDescription& d) {
  require_range("rate", d.rate, 1000, 192000);
  if (!d.is_spectrogram()) {
    require_range("window", d.window, 16, kMostPlain);
    return require_range("hop", d.hop, 1, d.window);
  }
  require_range("window", d.window, 16, kMostSamples);
  require_range("hop", d.hop, 1, d.window);
  require_range("fft", d.fft, d.window, kMostSamples);
  require_range("bands", d.bands, 1, kMostBands);
  require_range("power", d.power, 1, 2);
  require_range("frames", d.frames, 1, kMostFrames);
  require_range("patch_hop", d.patch_hop, 1, d.frames);
  if (!(d.low >= 0 && d.low < d.high && d.high <= d.rate / 2.0))
    fail("'low' and 'high' must lie between 0 and half of the rate, the lower first");
  if (!(d.log_offset > 0 && d.log_offset < 1e6)) fail("'log_offset' must be above 0");
}

// FFTW makes plans one at a time.
std::mutex& planning() {
  static std::mutex mutex;
  return mutex;
}

double* new_doubles(std::size_t count) {
  double* doubles = ::fftw_alloc_real(count);
  if (doubles == nullptr) throw std::bad_alloc();
  return doubles;
}

}  // namespace

NLOHMANN_JSON_SERIALIZE_ENUM(FrontEndType, {{FrontEndType::kLogMel, "log_mel"},
                                            {FrontEndType::kLogMelDeltas, "log_mel_deltas"},
                                            {FrontEndType::kSamples, "samples"}})
NLOHMANN_JSON_SERIALIZE_ENUM(MelTriangles, {{MelTriangles::kMel, "mel"},
                                            {MelTriangles::kHertz, "hertz"},
                                            {MelTriangles::kSlaney, "slaney"}})

std::int64_t FrontEndDescription::patches(std::int64_t samples) const {
  const std::int64_t step = patch_step();
  const std::int64_t behind = std::max<std::int64_t>(0, samples - patch_samples());
  return 1 + (behind + step - 1) / step;
}

nlohmann::json to_json(const FrontEndDescription& d) {
  if (!d.is_spectrogram())
    return {{"type", d.type}, {"rate", d.rate}, {"window", d.window}, {"hop", d.hop}};
  return {{"type", d.type},
          {"rate", d.rate},
          {"window", d.window},
          {"hop", d.hop},
          {"fft", d.fft},
          {"bands", d.bands},
          {"low", d.low},
          {"high", d.high},
          {"triangles", d.triangles},
          {"power", d.power},
          {"log_offset", d.log_offset},
          {"frames", d.frames},
          {"patch_hop", d.patch_hop}};
}

namespace {

class FieldReader {
 public:
  explicit FieldReader(JsonFields& fields) : fields_(fields) {}
  void whole(const char* field, int& member) {
    if (fields_.has(field)) member = static_cast<int>(fields_.whole(field, 1, kMostPlain));
  }
  void number(const char* field, double& member) {
    if (fields_.has(field)) member = fields_.get<double>(field);
  }

 private:
  JsonFields& fields_;
};

void read_spectrogram(JsonFields& fields, FrontEndDescription& d) {
  FieldReader reader(fields);
  reader.whole("fft", d.fft);
  reader.whole("bands", d.bands);
  reader.number("low", d.low);
  reader.number("high", d.high);
  if (fields.has("triangles")) d.triangles = fields.name<MelTriangles>("triangles");
  reader.whole("power", d.power);
  reader.number("log_offset", d.log_offset);
  reader.whole("frames", d.frames);
  reader.whole("patch_hop", d.patch_hop);
}

}  // namespace

FrontEndDescription front_end_from_json(const nlohmann::json& json) {
  JsonFields fields(json, "front_end", ErrorCode::kInvalidArgument);
  FieldReader reader(fields);
  FrontEndDescription d;
  d.type = fields.name<FrontEndType>("type");
  reader.whole("rate", d.rate);
  if (!d.is_spectrogram()) {
    (void)fields.at("window");
    d.frames = d.patch_hop = 1;
  }
  reader.whole("window", d.window);
  if (!d.is_spectrogram()) d.hop = std::max(1, d.window / 2);
  reader.whole("hop", d.hop);
  if (d.is_spectrogram()) read_spectrogram(fields, d);
  fields.finish();
  check(d);
  return d;
}

struct FrontEnd::Transform {
  fftw_plan plan = nullptr;

  // Estimated: a measured plan would differ from run to run, and so would its rounding.
  explicit Transform(int samples) {
    const std::lock_guard lock(planning());
    double* in = new_doubles(static_cast<std::size_t>(samples));
    double* out = new_doubles(static_cast<std::size_t>(samples) + 2);
    plan = ::fftw_plan_dft_r2c_1d(samples, in, reinterpret_cast<fftw_complex*>(out), FFTW_ESTIMATE);
    ::fftw_free(in);
    ::fftw_free(out);
    if (plan == nullptr) throw Error(ErrorCode::kInternal, "no Fourier transform can be planned");
  }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  ~Transform() {
    const std::lock_guard lock(planning());
    ::fftw_destroy_plan(plan);
  }
};

FrontEnd::FrontEnd(const FrontEndDescription& description) : description_(description) {
  check(description_);
  if (!description_.is_spectrogram()) return;
  const int n = description_.window;
  for (int i = 0; i < n; ++i) window_.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / n));
  make_triangles();
  transform_ = std::make_unique<Transform>(description_.fft);
}

FrontEnd::~FrontEnd() = default;

// The constant part of a spectrum belongs to no band.
void FrontEnd::make_triangles() {
  const FrontEndDescription& d = description_;
  const bool in_mel = d.triangles == MelTriangles::kMel;
  const bool slaney = d.triangles == MelTriangles::kSlaney;
  const auto scale = slaney ? slaney_of : mel_of;
  const double low = scale(d.low), step = (scale(d.high) - low) / (d.bands + 1);
  const auto place = [&](double mel) {
    return in_mel ? mel : slaney ? hertz_of_slaney(mel) : hertz_of(mel);
  };
  for (int b = 0; b < d.bands; ++b) {
    const double begin = place(low + b * step), top = place(low + (b + 1) * step),
                 end = place(low + (b + 2) * step);
    Triangle triangle;
    for (int k = 1; k <= d.fft / 2; ++k) {
      const double hertz = static_cast<double>(k) * d.rate / d.fft;
      const double at = in_mel ? mel_of(hertz) : hertz;
      double weight = std::min((at - begin) / (top - begin), (end - at) / (end - top));
      if (weight <= 0) continue;
      if (slaney) weight *= 2 / (end - begin);
      if (triangle.weights.empty()) triangle.first = static_cast<std::size_t>(k);
      triangle.weights.push_back(weight);
    }
    triangles_.push_back(std::move(triangle));
  }
}

std::size_t FrontEnd::floats() const {
  if (!description_.is_spectrogram()) return static_cast<std::size_t>(description_.window);
  return static_cast<std::size_t>(description_.frames) *
         static_cast<std::size_t>(description_.bands) *
         static_cast<std::size_t>(description_.channels());
}

FrontEnd::Memory::Memory(const FrontEnd& front_end) {
  const FrontEndDescription& d = front_end.description();
  const auto fft = static_cast<std::size_t>(d.fft);
  samples_ = new_doubles(fft);
  spectrum_ = ::fftw_alloc_real(fft + 2);
  if (spectrum_ == nullptr) {
    ::fftw_free(samples_);
    throw std::bad_alloc();
  }
  std::fill_n(samples_, fft, 0.0);
  if (d.is_spectrogram()) bands_.resize(front_end.floats());
}

std::size_t FrontEnd::memory_bytes() const {
  const auto fft = static_cast<std::size_t>(description_.fft);
  const std::size_t bands = description_.is_spectrogram() ? floats() : 0;
  return sizeof(double) * (2 * fft + 2) + sizeof(float) * bands;
}

FrontEnd::Memory::~Memory() {
  ::fftw_free(samples_);
  ::fftw_free(spectrum_);
}

// In double precision: the rounding of a loud sound would be heard in a band that is silent.
void FrontEnd::frame(const float* samples, Memory& memory, float* bands) const {
  for (std::size_t i = 0; i < window_.size(); ++i)
    memory.samples_[i] = double{samples[i]} * window_[i];
  ::fftw_execute_dft_r2c(transform_->plan, memory.samples_,
                         reinterpret_cast<fftw_complex*>(memory.spectrum_));
  const std::size_t places = static_cast<std::size_t>(description_.fft) / 2 + 1;
  double* const strength = memory.spectrum_;  // over the pairs, which lie behind what is written
  for (std::size_t k = 0; k < places; ++k) {
    const double re = memory.spectrum_[2 * k], im = memory.spectrum_[2 * k + 1];
    const double energy = re * re + im * im;
    strength[k] = description_.power == 2 ? energy : std::sqrt(energy);
  }
  for (const Triangle& triangle : triangles_) {
    double sum = 0;
    for (std::size_t k = 0; k < triangle.weights.size(); ++k)
      sum += triangle.weights[k] * strength[triangle.first + k];
    *bands++ = static_cast<float>(std::log(sum + description_.log_offset));
  }
}

// Linear regression over the frames around each (Furui); the ends are repeated.
void FrontEnd::differences(const float* of, float* out) const {
  const std::int64_t frames = description_.frames, bands = description_.bands;
  float squares = 0;
  for (int r = 1; r <= kReach; ++r) squares += 2 * static_cast<float>(r * r);
  for (std::int64_t t = 0; t < frames; ++t) {
    for (std::int64_t b = 0; b < bands; ++b) {
      float sum = 0;
      for (std::int64_t r = 1; r <= kReach; ++r) {
        const float behind = of[std::min(t + r, frames - 1) * bands + b];
        const float before = of[std::max<std::int64_t>(t - r, 0) * bands + b];
        sum += static_cast<float>(r) * (behind - before);
      }
      out[t * bands + b] = sum / squares;
    }
  }
}

void FrontEnd::patch(std::span<const float> samples, Memory& memory, float* out,
                     std::size_t moved) const {
  if (!description_.is_spectrogram()) {
    std::copy(samples.begin(), samples.end(), out);
    return;
  }
  const auto bands = static_cast<std::size_t>(description_.bands),
             frames = static_cast<std::size_t>(description_.frames), all = frames * bands;
  float* const plain = memory.bands_.data();
  const std::size_t known = frames - std::min(moved, frames);
  std::copy_n(plain + (frames - known) * bands, known * bands, plain);
  for (std::size_t t = known; t < frames; ++t)
    frame(samples.data() + t * static_cast<std::size_t>(description_.hop), memory,
          plain + t * bands);
  if (description_.channels() == 1) {
    std::copy_n(plain, all, out);
    return;
  }
  float *const first = plain + all, *const second = first + all;
  differences(plain, first);
  differences(first, second);
  for (std::size_t i = 0; i < all; ++i)
    for (std::size_t c = 0; c < 3; ++c) out[3 * i + c] = plain[c * all + i];
}

}  // namespace moil::data
