#include "datasets/kinds/sound/sound_kind.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "datasets/labels/media_type.h"
#include "datasets/readers/dataset.h"
#include "datasets/sounds/sound_stream.h"
#include "datasets/sounds/sound_view.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {
namespace {

// To be raised when reading or the arithmetic changes its results.
constexpr const char* kSoundArithmetic = "sound 2 ";
// Of decoders, the resampler and what lies between them.
constexpr std::size_t kDecodingBytes = std::size_t{8} << 20;

// A stretch of a recording, moved along it.
class Stretch {
 public:
  void load(std::vector<std::uint8_t> bytes, std::string_view name, int rate) {
    stream_.reset();
    bytes_ = std::move(bytes);
    stream_.emplace(bytes_, name, rate);
    samples_.clear();
    begin_ = 0;
  }

  // Samples [begin, begin + count) of the recording; silence before its beginning and behind its
  // end. Valid until the next call. Keeps what lies up to `before` in front of it.
  std::span<const float> at(std::int64_t begin, std::size_t count, std::int64_t before) {
    if (begin - before < begin_ && begin_ > 0) go_back();
    const std::int64_t keep = std::max<std::int64_t>(begin - before, 0);
    move_to(keep);
    const std::int64_t end = begin + static_cast<std::int64_t>(count);
    const std::int64_t has = begin_ + static_cast<std::int64_t>(samples_.size());
    if (end > has) append(static_cast<std::size_t>(end - has));
    if (begin >= 0)
      return std::span(samples_).subspan(static_cast<std::size_t>(begin - begin_), count);
    // Only at the beginning, where begin_ is 0.
    const auto silent = std::min(count, static_cast<std::size_t>(-begin));
    padded_.assign(count, 0.0F);
    std::copy_n(samples_.begin(), count - silent,
                padded_.begin() + static_cast<std::ptrdiff_t>(silent));
    return padded_;
  }

  void release() {
    stream_.reset();
    bytes_ = {};
    samples_ = {};
    padded_ = {};
  }

  // That it holds of stretches of so many samples, which move on by no more than `step`.
  static std::size_t bytes(std::int64_t stretch, std::int64_t step) {
    const std::int64_t longest = std::max(stretch + 2 * step, kAtOnce);
    // As it grows, it is there twice.
    return sizeof(float) * static_cast<std::size_t>(2 * longest + stretch);
  }

 private:
  static constexpr std::int64_t kAtOnce = 1 << 16;

  void go_back() {
    stream_->rewind();
    samples_.clear();
    begin_ = 0;
  }

  void append(std::size_t count) {
    const std::size_t had = samples_.size();
    samples_.reserve(had + count);  // not twice as much as it was
    samples_.resize(had + count);
    stream_->read(std::span(samples_).subspan(had));
  }

  // Lets go of what is in front of `begin`, reading past it where it is not read yet.
  void move_to(std::int64_t begin) {
    for (;;) {
      const auto has = static_cast<std::int64_t>(samples_.size());
      const std::int64_t gone = std::min(begin - begin_, has);
      samples_.erase(samples_.begin(), samples_.begin() + gone);
      begin_ += gone;
      if (begin_ == begin) return;
      append(static_cast<std::size_t>(std::min(begin - begin_, kAtOnce)));
    }
  }

  std::vector<std::uint8_t> bytes_;
  std::optional<SoundStream> stream_;  // reads bytes_
  std::vector<float> samples_, padded_;
  std::int64_t begin_ = 0;  // of samples_ in the recording
};

class SoundMaker final : public SampleMaker {
 public:
  SoundMaker(const SoundDescription& description, std::shared_ptr<const FrontEnd> front_end)
      : description_(description), front_end_(std::move(front_end)) {}

  void load(std::span<const std::uint8_t> bytes, std::string_view name) override {
    stretch_.load({bytes.begin(), bytes.end()}, name, description_.front_end.rate);
  }

  void make(const Digest& content, PartView wanted, float* out) override {
    const FrontEndDescription& d = description_.front_end;
    const std::int64_t step = std::int64_t{d.patch_hop} * d.hop, room = step / 2;
    const SoundView view = sound_view_of(content, wanted.view, wanted.part);
    const std::int64_t shift = std::llround(view.shift * static_cast<double>(room));
    const std::int64_t begin = std::int64_t{wanted.part} * step + shift;
    const auto found =
        stretch_.at(begin, static_cast<std::size_t>(d.patch_samples()), room + shift);
    samples_.assign(found.begin(), found.end());
    disturb(view, samples_);
    const std::span<float> patch(out, front_end_->floats());
    if (!memory_) memory_.emplace(*front_end_);
    front_end_->patch(samples_, *memory_, patch.data());
    mask(view, d, patch);
    normalise(patch);
  }

  void release() override {
    stretch_.release();
    memory_.reset();
    samples_ = {};
  }

 private:
  void normalise(std::span<float> patch) const {
    const auto channels = static_cast<std::size_t>(description_.front_end.channels());
    for (std::size_t i = 0; i < patch.size(); ++i) {
      const double mean = i % channels == 0 ? description_.mean : 0;
      patch[i] = static_cast<float>((double{patch[i]} - mean) / description_.stddev);
    }
  }

  const SoundDescription description_;
  const std::shared_ptr<const FrontEnd> front_end_;
  std::optional<FrontEnd::Memory> memory_;
  Stretch stretch_;
  std::vector<float> samples_;
};

class SoundKind final : public Kind {
 public:
  explicit SoundKind(const SoundDescription& description)
      : description_(description),
        front_end_(std::make_shared<const FrontEnd>(description.front_end)) {
    if (!std::isfinite(description.mean) || !(description.stddev > 0) ||
        !std::isfinite(description.stddev))
      throw Error(ErrorCode::kInvalidArgument, "sound: 'std' must be above 0 and 'mean' a number");
  }

  std::string_view name() const override { return "sound"; }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"kind", name()}, {"front_end", data::to_json(description_.front_end)}};
    if (description_.mean != 0) json["mean"] = description_.mean;
    if (description_.stddev != 1) json["std"] = description_.stddev;
    if (description_.answer == PartAnswer::kMaximum) json["answer"] = "maximum";
    if (description_.training == PartTraining::kMean) json["train"] = "clips";
    return json;
  }
  // Answers of parts are joined behind the network.
  std::string fingerprint() const override {
    nlohmann::json seen = to_json();
    seen.erase("answer");
    seen.erase("train");
    return digest_of(kSoundArithmetic + seen.dump()).hex();
  }
  std::vector<Dims> inputs() const override {
    const FrontEndDescription& d = description_.front_end;
    return {{d.channels(), d.frames, d.bands}};
  }
  bool takes(std::string_view media_type) const override { return is_sound(media_type); }
  bool has_parts() const override { return true; }
  std::uint32_t parts(std::span<const std::uint8_t> bytes, std::string_view name) const override {
    SoundStream stream(bytes, name, description_.front_end.rate);
    return static_cast<std::uint32_t>(description_.front_end.patches(stream.samples()));
  }
  std::optional<PartPlaces> part_places(std::span<const std::uint8_t> bytes,
                                        std::string_view name) const override {
    const FrontEndDescription& d = description_.front_end;
    SoundStream stream(bytes, name, d.rate);
    const auto seconds = [&](auto samples) { return static_cast<double>(samples) / d.rate; };
    return PartPlaces{seconds(std::int64_t{d.patch_hop} * d.hop), seconds(d.patch_samples()),
                      seconds(stream.samples()), "seconds"};
  }
  PartAnswer part_answer() const override { return description_.answer; }
  PartTraining part_training() const override { return description_.training; }
  std::optional<std::size_t> working_bytes(std::span<const std::uint8_t>,
                                           std::uint64_t file_bytes) const override {
    const FrontEndDescription& d = description_.front_end;
    const std::int64_t patch = d.patch_samples(), step = std::int64_t{d.patch_hop} * d.hop;
    return 2 * file_bytes + kDecodingBytes + front_end_->memory_bytes() +
           Stretch::bytes(patch, step) + sizeof(float) * static_cast<std::size_t>(patch);
  }
  std::unique_ptr<SampleMaker> maker(const ViewRules&) const override {
    return std::make_unique<SoundMaker>(description_, front_end_);
  }

 private:
  const SoundDescription description_;
  const std::shared_ptr<const FrontEnd> front_end_;
};

}  // namespace

KindPtr sound_kind(const SoundDescription& description) {
  return std::make_shared<SoundKind>(description);
}

KindPtr sound_kind_from_json(const nlohmann::json& json) {
  return sound_kind(sound_description_from_json(json));
}

SoundDescription sound_description_from_json(const nlohmann::json& json) {
  JsonFields fields(json, "sound", ErrorCode::kInvalidArgument);
  SoundDescription description;
  description.front_end = front_end_from_json(fields.at("front_end"));
  if (fields.has("mean")) description.mean = fields.get<double>("mean");
  if (fields.has("std")) description.stddev = fields.get<double>("std");
  if (fields.has("answer")) {
    const auto answer = fields.get<std::string>("answer");
    if (answer != "mean" && answer != "maximum")
      fields.fail("'answer' is \"" + answer + "\", expected \"mean\" or \"maximum\"");
    if (answer == "maximum") description.answer = PartAnswer::kMaximum;
  }
  if (fields.has("train")) {
    const auto train = fields.get<std::string>("train");
    if (train != "clips" && train != "patches")
      fields.fail("'train' is \"" + train + "\", expected \"clips\" or \"patches\"");
    if (train == "clips") description.training = PartTraining::kMean;
  }
  fields.finish();
  return description;
}

Level level_of(const FrontEndDescription& front_end, const SampleDataset& dataset,
               std::span<const std::size_t> samples) {
  const KindPtr kind = sound_kind({front_end});
  const auto maker = kind->maker({});
  const auto channels = static_cast<std::size_t>(front_end.channels());
  std::vector<float> patch(kind->floats());
  double count = 0, mean = 0, squares = 0;  // of what differs from the mean (Welford)
  for (const std::size_t i : samples) {
    const std::vector<std::uint8_t> bytes = dataset.encoded(i);
    const std::string name = dataset.name(i);
    const std::uint32_t parts = kind->parts(bytes, name);
    maker->load(bytes, name);
    for (std::uint32_t part = 0; part < parts; ++part) {
      maker->make({}, {0, part}, patch.data());
      for (std::size_t k = 0; k < patch.size(); k += channels) {
        const double before = double{patch[k]} - mean;
        mean += before / ++count;
        squares += before * (double{patch[k]} - mean);
      }
    }
  }
  return {mean, squares > 0 ? std::sqrt(squares / count) : 1};
}

}  // namespace moil::data
