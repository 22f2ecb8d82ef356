#include "datasets/sounds/sound_cut.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/number_text.h"
#include "datasets/sounds/sound_decoder.h"
#include "datasets/sounds/sound_file.h"

namespace moil::data {
namespace {

constexpr std::size_t kFramesOfAStep = 4096;
constexpr std::uint64_t kWaveHeadBytes = 1024;  // more than a head takes

// Not more than there is, so that what is read here can be asked for.
std::string length_text(std::int64_t frames, int rate) {
  const double thousandths = std::floor(static_cast<double>(frames) * 1000 / rate);
  return number_text(thousandths / 1000) + " s";
}

// How the piece's samples are coded.
int coding_of_piece(int coding) {
  switch (coding) {
    case SF_FORMAT_PCM_U8:
    case SF_FORMAT_PCM_S8:
      return SF_FORMAT_PCM_U8;
    case SF_FORMAT_PCM_24:
    case SF_FORMAT_PCM_32:
    case SF_FORMAT_DOUBLE:
      return coding;
    case SF_FORMAT_FLOAT:
    case SF_FORMAT_VORBIS:
    case SF_FORMAT_OPUS:
    case SF_FORMAT_MPEG_LAYER_I:
    case SF_FORMAT_MPEG_LAYER_II:
    case SF_FORMAT_MPEG_LAYER_III:
      return SF_FORMAT_FLOAT;
    default:
      return SF_FORMAT_PCM_16;  // also of what decoders of a few bits make
  }
}

int bytes_of(int coding) {
  if (coding == SF_FORMAT_PCM_U8) return 1;
  if (coding == SF_FORMAT_PCM_16) return 2;
  if (coding == SF_FORMAT_PCM_24) return 3;
  return coding == SF_FORMAT_DOUBLE ? 8 : 4;
}

// A WAV file in memory, as libsndfile writes one.
class WavWriter {
 public:
  WavWriter(int rate, int channels, int coding) {
    SF_INFO info{};
    info.samplerate = rate;
    info.channels = channels;
    info.format = SF_FORMAT_WAV | coding;
    SF_VIRTUAL_IO io{length, seek, read, write, tell};
    file_ = ::sf_open_virtual(&io, SFM_WRITE, &info, this);
    if (file_ == nullptr) throw Error(ErrorCode::kInternal, ::sf_strerror(nullptr));
    ::sf_command(file_, SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);  // it holds the time of day
  }
  WavWriter(const WavWriter&) = delete;
  WavWriter& operator=(const WavWriter&) = delete;
  ~WavWriter() { close(); }

  SNDFILE* file() const { return file_; }
  std::vector<std::uint8_t> finish() {
    close();
    return std::move(bytes_);
  }

 private:
  static WavWriter& of(void* user) { return *static_cast<WavWriter*>(user); }
  static sf_count_t length(void* user) { return static_cast<sf_count_t>(of(user).bytes_.size()); }
  static sf_count_t seek(sf_count_t offset, int whence, void* user) {
    sf_count_t base = 0;
    if (whence == SEEK_CUR) base = of(user).at_;
    if (whence == SEEK_END) base = length(user);
    return of(user).at_ = base + offset;
  }
  static sf_count_t read(void* out, sf_count_t count, void* user) {
    WavWriter& self = of(user);
    const sf_count_t some = std::clamp<sf_count_t>(count, 0, length(user) - self.at_);
    std::memcpy(out, self.bytes_.data() + self.at_, static_cast<std::size_t>(some));
    self.at_ += some;
    return some;
  }
  static sf_count_t write(const void* from, sf_count_t count, void* user) {
    WavWriter& self = of(user);
    const auto end = static_cast<std::size_t>(self.at_ + count);
    if (self.bytes_.size() < end) self.bytes_.resize(end);
    std::memcpy(self.bytes_.data() + self.at_, from, static_cast<std::size_t>(count));
    self.at_ += count;
    return count;
  }
  static sf_count_t tell(void* user) { return of(user).at_; }

  void close() {
    if (file_ != nullptr) ::sf_close(std::exchange(file_, nullptr));  // which writes the head
  }

  SNDFILE* file_ = nullptr;
  std::vector<std::uint8_t> bytes_;
  sf_count_t at_ = 0;
};

sf_count_t write_to(SNDFILE* file, const int* from, sf_count_t frames) {
  return ::sf_writef_int(file, from, frames);
}
sf_count_t write_to(SNDFILE* file, const float* from, sf_count_t frames) {
  return ::sf_writef_float(file, from, frames);
}
sf_count_t write_to(SNDFILE* file, const double* from, sf_count_t frames) {
  return ::sf_writef_double(file, from, frames);
}

struct FrameRange {
  std::int64_t begin = 0, end = 0;  // frames
};

[[noreturn]] void refuse(const std::string& name, ErrorCode code, const std::string& why) {
  throw Error(code, name + ": " + why);
}

// What there is to say of a recording that ended before the piece did.
[[noreturn]] void ended(const SoundDecoder& recording, const std::string& name, std::int64_t frames,
                        double to) {
  const std::string length = length_text(frames, recording.rate());
  if (frames == 0) refuse(name, ErrorCode::kBadData, "it holds no sound");
  const bool is_cut = recording.container() == SF_FORMAT_FLAC && recording.told_frames() > frames;
  if (is_cut || recording.is_damaged())
    refuse(name, ErrorCode::kBadData,
           "it is damaged: it can be read for " + length + " only; cut what lies before");
  refuse(name, ErrorCode::kInvalidArgument,
         "it is " + length + " long, and the piece would end at " + number_text(to) +
             " s; let it end at " + length + " or before");
}

// Samples as wide as `Sample` go through unchanged.
template <class Sample>
void copy(SoundDecoder& recording, const std::string& name, FrameRange stretch, double to,
          SNDFILE* piece) {
  std::vector<Sample> frames(kFramesOfAStep * static_cast<std::size_t>(recording.channels()));
  for (std::int64_t at = 0; at < stretch.end;) {
    const std::int64_t until = at < stretch.begin ? stretch.begin : stretch.end;
    const auto wanted = std::min<std::int64_t>(until - at, kFramesOfAStep);
    const sf_count_t some = recording.read(frames.data(), wanted);
    if (some <= 0) ended(recording, name, at, to);
    if (recording.is_damaged())
      refuse(name, ErrorCode::kBadData,
             "it is damaged about " + length_text(at, recording.rate()) +
                 " after its beginning; cut what lies before");
    if (at >= stretch.begin && write_to(piece, frames.data(), some) != some)
      throw Error(ErrorCode::kInternal, ::sf_strerror(piece));
    at += some;
  }
}

FrameRange checked(const SoundDecoder& recording, const std::string& name, double from, double to,
                   std::uint64_t most_bytes) {
  const auto wrong = [&](const std::string& why) {
    refuse(name, ErrorCode::kInvalidArgument, why);
  };
  if (!(from >= 0)) wrong("a piece begins at 0 s or later, not at " + number_text(from) + " s");
  if (!(to > from))
    wrong("a piece ends behind its beginning, not at " + number_text(to) +
          " s where it begins at " + number_text(from) + " s");
  if (!(to <= static_cast<double>(kMostSoundSeconds)))
    wrong("a piece ends within a day, not at " + number_text(to) + " s");
  const int rate = recording.rate();
  const FrameRange stretch{std::llround(from * rate), std::llround(to * rate)};
  if (stretch.end == stretch.begin)
    wrong("from " + number_text(from) + " to " + number_text(to) +
          " s there is no sample; it has " + std::to_string(rate) + " samples a second");
  const auto frame_bytes =
      static_cast<std::uint64_t>(recording.channels()) *
      static_cast<std::uint64_t>(bytes_of(coding_of_piece(recording.coding())));
  const std::uint64_t most = (most_bytes - kWaveHeadBytes) / frame_bytes;
  if (static_cast<std::uint64_t>(stretch.end - stretch.begin) > most)
    wrong("such a piece takes more than " + std::to_string(most_bytes >> 20) +
          " MiB, the most that a sample may; cut pieces of " +
          length_text(static_cast<std::int64_t>(most), rate) + " at most");
  return stretch;
}

}  // namespace

SoundPiece cut_sound(const SoundBytes& recording, const std::string& name, double from, double to,
                     std::uint64_t most_bytes) {
  SoundDecoder decoder(recording, name);
  const FrameRange stretch = checked(decoder, name, from, to, most_bytes);
  const int coding = coding_of_piece(decoder.coding());
  WavWriter writer(decoder.rate(), decoder.channels(), coding);
  if (coding == SF_FORMAT_FLOAT)
    copy<float>(decoder, name, stretch, to, writer.file());
  else if (coding == SF_FORMAT_DOUBLE)
    copy<double>(decoder, name, stretch, to, writer.file());
  else
    copy<int>(decoder, name, stretch, to, writer.file());
  return {writer.finish(), decoder.rate(), decoder.channels(), stretch.end - stretch.begin};
}

}  // namespace moil::data
