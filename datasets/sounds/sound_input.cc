#include "datasets/sounds/sound_input.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "base/error.h"
#include "datasets/labels/media_type.h"
#include "datasets/sounds/pipe_bytes.h"
#include "datasets/sounds/spliced_bytes.h"
#include "datasets/sounds/wav_head.h"

namespace moil::data {
namespace {

// With the head of a WAV file before them, which knows no length.
class RawSound final : public SoundBytes {
 public:
  RawSound(std::shared_ptr<const SoundBytes> samples, int rate)
      : samples_(std::move(samples)), all_(*samples_) {
    all_.add(wav_head(rate));
    all_.add(0, samples_->size());
  }
  [[nodiscard]] std::int64_t size() const override { return all_.size(); }
  [[nodiscard]] bool is_endless() const override { return samples_->is_endless(); }
  std::size_t read(std::int64_t at, std::span<std::uint8_t> out) const override {
    return all_.read(at, out);
  }

 private:
  const std::shared_ptr<const SoundBytes> samples_;
  SplicedBytes all_;
};

std::shared_ptr<const SoundBytes> opened(int descriptor, std::string_view name) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    throw system_error("cannot look at " + std::string(name), errno);
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode))
    return std::make_shared<PipeBytes>(descriptor, name);
  return std::make_shared<SoundBytesOfFile>(descriptor, name);
}

// Only what samples hardly begin with by chance: two bytes alone tell an MP3 file without a title.
bool is_file(std::span<const std::uint8_t> head) {
  const std::string_view media = media_type_of(head);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return (is_sound(media) && media != kMp3) || text.starts_with("ID3") || is_image(media) ||
         is_text(media);
}

}  // namespace

SoundInput sound_input(int descriptor, std::optional<int> raw_rate, std::string_view name) {
  SoundInput input;
  input.bytes = input.source = opened(descriptor, name);
  std::array<std::uint8_t, 512> bytes{};
  const auto head = std::span(bytes).first(input.source->read(0, bytes));
  if (head.empty()) throw Error(ErrorCode::kBadData, std::string(name) + ": it is empty");
  input.is_raw = raw_rate && !is_file(head);
  if (input.is_raw) {
    input.bytes = std::make_shared<RawSound>(input.source, *raw_rate);
  } else if (const auto media = media_type_of(head);
             input.source->is_endless() && is_sound(media) && media != kWav && media != kFlac) {
    throw Error(ErrorCode::kBadData,
                std::string(name) + ": it is " + std::string(media_name(media)) +
                    ", which is not read from a pipe; give the file, or have another program make "
                    "WAV or plain samples of it");
  }
  return input;
}

}  // namespace moil::data
