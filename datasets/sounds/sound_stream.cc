#include "datasets/sounds/sound_stream.h"

#include <samplerate.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "datasets/sounds/sound_bytes.h"

namespace moil::data {
namespace {

constexpr std::size_t kReadAtOnce = 4096;
// 97 dB of signal to noise: more than microphones have.
constexpr int kConverter = SRC_SINC_FASTEST;

}  // namespace

struct SoundStream::Resampler {
  SRC_STATE* state = nullptr;

  Resampler() {
    int error = 0;
    state = ::src_new(kConverter, 1, &error);
    if (state == nullptr) throw Error(ErrorCode::kInternal, ::src_strerror(error));
  }
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;
  ~Resampler() { ::src_delete(state); }
};

SoundStream::SoundStream(std::span<const std::uint8_t> bytes, std::string_view name, int rate)
    : SoundStream(std::make_shared<SoundBytesInMemory>(bytes), name, rate) {}

SoundStream::SoundStream(std::shared_ptr<const SoundBytes> bytes, std::string_view name, int rate)
    : file_(std::move(bytes), name), rate_(rate), ratio_(static_cast<double>(rate) / file_.rate()) {
  if (rate == file_.rate()) return;
  if (::src_is_valid_ratio(ratio_) == 0)
    throw Error(ErrorCode::kBadData,
                std::string(name) + ": it has " + std::to_string(file_.rate()) +
                    " samples a second, too far from the network's " + std::to_string(rate));
  resampler_ = std::make_unique<Resampler>();
  input_.resize(kReadAtOnce);
}

SoundStream::~SoundStream() = default;

std::int64_t SoundStream::samples() {
  return std::max<std::int64_t>(1, file_.samples() * rate_ / file_.rate());
}

std::size_t SoundStream::read(std::span<float> out) {
  const std::size_t done = resampler_ ? resampled(out) : file_.read(out);
  std::ranges::fill(out.subspan(done), 0.0F);
  return done;
}

std::size_t SoundStream::resampled(std::span<float> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    if (left_.empty() && !ended_) {
      left_ = std::span(input_).first(file_.read(input_));
      ended_ = left_.size() < input_.size();
    }
    SRC_DATA data{};
    data.data_in = left_.data();
    data.input_frames = static_cast<long>(left_.size());
    data.data_out = out.data() + done;
    data.output_frames = static_cast<long>(out.size() - done);
    data.end_of_input = ended_ ? 1 : 0;
    data.src_ratio = ratio_;
    if (const int error = ::src_process(resampler_->state, &data); error != 0)
      throw Error(ErrorCode::kInternal, ::src_strerror(error));
    left_ = left_.subspan(static_cast<std::size_t>(data.input_frames_used));
    done += static_cast<std::size_t>(data.output_frames_gen);
    if (ended_ && data.output_frames_gen == 0 && data.input_frames_used == 0) break;
  }
  return done;
}

void SoundStream::rewind() {
  file_.rewind();
  if (resampler_) ::src_reset(resampler_->state);
  left_ = {};
  ended_ = false;
}

}  // namespace moil::data
