// Front ends: what of a sound a network sees, its samples or a patch of a spectrogram on a mel
// scale.
//
//   samples         `window` samples as they are, `hop` samples behind those of the patch before;
//                   of the fields below, only these and `rate` count
//
// A spectrogram's frame is `window` samples under a periodic Hann window, `hop` samples behind the
// one before; its spectrum (a Fourier transform of `fft` samples, zeros behind the window) is
// summed up in `bands` triangles that lie evenly on the mel scale, mel = 1127 ln(1 + f / 700), from
// `low` to `high` hertz; the network sees ln(sum + log_offset). A patch is `frames` frames; the
// next one begins `patch_hop` frames behind it.
//
//   log_mel         frames x bands, one channel
//   log_mel_deltas  frames x bands, with the first and second differences in time as two more
//                   channels (regression over two frames on both sides, the patch's ends repeated)
//
// The defaults are YAMNet's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

namespace moil::data {

enum class FrontEndType : std::uint8_t { kLogMel, kLogMelDeltas, kSamples };
enum class MelTriangles : std::uint8_t {
  kMel,     // straight in mel, as TensorFlow has them
  kHertz,   // straight in hertz, as torchaudio has them
  kSlaney,  // straight in hertz, on Slaney's scale and of one area, as librosa has them
};

struct FrontEndDescription {
  FrontEndType type = FrontEndType::kLogMel;
  int rate = 16000;                        // samples a second
  int window = 400, hop = 160, fft = 512;  // samples
  int bands = 64;
  double low = 125, high = 7500;  // Hz
  MelTriangles triangles = MelTriangles::kMel;
  int power = 1;  // of the spectrum: 1, its magnitude; 2, its energy
  double log_offset = 0.001;
  int frames = 96, patch_hop = 48;  // frames

  [[nodiscard]] bool is_spectrogram() const { return type != FrontEndType::kSamples; }
  [[nodiscard]] int channels() const { return type == FrontEndType::kLogMelDeltas ? 3 : 1; }
  // From one patch to the next.
  [[nodiscard]] std::int64_t patch_step() const { return std::int64_t{patch_hop} * hop; }
  // The stretch whose loudness says whether there is a signal.
  [[nodiscard]] std::size_t shortest_signal() const {
    return static_cast<std::size_t>(is_spectrogram() ? hop : std::max(1, rate / 100));
  }
  [[nodiscard]] std::int64_t patch_samples() const {
    return std::int64_t{frames - 1} * hop + window;
  }
  // How many patches cover so many samples, the last one filled up with silence; at least 1.
  [[nodiscard]] std::int64_t patches(std::int64_t samples) const;
  bool operator==(const FrontEndDescription&) const = default;
};

[[nodiscard]] nlohmann::json to_json(const FrontEndDescription& description);
// kInvalidArgument, naming the field; all but "type" have defaults.
[[nodiscard]] FrontEndDescription front_end_from_json(const nlohmann::json& json);

// Safe from any thread, each with working memory of its own.
class FrontEnd {
 public:
  // kInvalidArgument, naming the field.
  explicit FrontEnd(const FrontEndDescription& description);
  ~FrontEnd();
  FrontEnd(const FrontEnd&) = delete;
  FrontEnd& operator=(const FrontEnd&) = delete;

  const FrontEndDescription& description() const { return description_; }
  // What a patch has, all channels.
  std::size_t floats() const;

  // One thread's.
  class Memory {
   public:
    explicit Memory(const FrontEnd& front_end);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

   private:
    friend class FrontEnd;
    double* samples_;           // aligned as the transform wants it
    double* spectrum_;          // pairs
    std::vector<float> bands_;  // of the patch that was made last, and its differences
  };
  // That a Memory takes.
  std::size_t memory_bytes() const;

  // samples: patch_samples(). Writes frames x bands x channels, the channel fastest. moved: how
  // many frames it begins behind the patch that this memory made last, of the same sound; frames
  // that both have are not computed again, and are the same bits.
  static constexpr std::size_t kElsewhere = std::size_t(-1);
  void patch(std::span<const float> samples, Memory& memory, float* out,
             std::size_t moved = kElsewhere) const;

 private:
  // The places of the spectrum that count in a band, and how much.
  struct Triangle {
    std::size_t first = 0;
    std::vector<double> weights;
  };
  struct Transform;

  void make_triangles();
  void frame(const float* samples, Memory& memory, float* bands) const;
  void differences(const float* of, float* out) const;

  const FrontEndDescription description_;
  std::vector<double> window_;
  std::vector<Triangle> triangles_;
  std::unique_ptr<Transform> transform_;
};

}  // namespace moil::data
