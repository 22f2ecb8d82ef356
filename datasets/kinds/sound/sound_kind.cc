#include "datasets/kinds/sound/sound_kind.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json/json.h"
#include "base/number_text.h"
#include "datasets/labels/media_type.h"
#include "datasets/samples/dataset.h"
#include "datasets/sounds/sound_background.h"
#include "datasets/sounds/sound_bytes.h"
#include "datasets/sounds/sound_stream.h"
#include "datasets/sounds/sound_view.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {
namespace {

// To be raised when reading or the arithmetic changes its results.
constexpr const char* kSoundArithmetic = "sound 5 ";
// Channels that have nothing to do with each other leave one over their number of their energy when
// they are mixed; such as leave this much of that cancel each other.
constexpr double kLeastEnergyLeft = 0.25;
// What decoders, the resampler and what lies between them take.
constexpr std::size_t kDecodingBytes = std::size_t{8} << 20;

// A stretch of a recording, moved along it.
class Stretch {
 public:
  void load(std::vector<std::uint8_t> bytes, std::string_view name, int rate) {
    release();
    bytes_ = std::move(bytes);
    stream(std::make_shared<SoundBytesInMemory>(bytes_), name, rate);
  }

  void stream(std::shared_ptr<const SoundBytes> recording, std::string_view name, int rate) {
    stream_.emplace(std::move(recording), name, rate);
    samples_.clear();
    begin_ = 0;
    end_.reset();
  }

  // Where the recording ends, once at() was asked beyond it.
  std::optional<std::int64_t> end() const { return end_; }

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

  const SoundFile* file() const { return stream_ ? &stream_->file() : nullptr; }

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
    const std::size_t read = stream_->read(std::span(samples_).subspan(had));
    if (read < count && !end_) end_ = begin_ + static_cast<std::int64_t>(had + read);
  }

  // Lets go of what is in front of `begin`, reading past it if it is not read yet.
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
  std::optional<std::int64_t> end_;
};

// All of a recording that is shorter than a patch of so many samples; valid until the next at().
std::optional<std::span<const float>> short_one(Stretch& stretch, std::size_t patch) {
  const auto found = stretch.at(0, patch, 0);
  const auto end = stretch.end();
  if (!end || *end >= std::ssize(found)) return std::nullopt;
  return found.first(static_cast<std::size_t>(*end));
}

// Of a recording of so many samples at the front end's rate.
SampleParts parts_of_samples(const FrontEndDescription& d, std::int64_t samples) {
  const auto seconds = [&](std::int64_t count) { return static_cast<double>(count) / d.rate; };
  if (samples < d.patch_samples())
    return {kShortPlaces, {0, seconds(samples), seconds(samples), "seconds"}};
  return {static_cast<std::uint32_t>(d.patches(samples)),
          {seconds(d.patch_step()), seconds(d.patch_samples()), seconds(samples), "seconds"}};
}

class SoundMaker final : public SampleMaker {
 public:
  SoundMaker(const SoundDescription& description, std::shared_ptr<const FrontEnd> front_end)
      : description_(description), front_end_(std::move(front_end)) {}

  void load(std::span<const std::uint8_t> bytes, std::string_view name) override {
    begin();
    stretch_.load({bytes.begin(), bytes.end()}, name, description_.front_end.rate);
  }
  void stream(std::shared_ptr<const SoundBytes> recording, std::string_view name) override {
    begin();
    stretch_.release();
    stretch_.stream(std::move(recording), name, description_.front_end.rate);
  }
  std::optional<SampleParts> parts() const override {
    if (!stretch_.end()) return std::nullopt;
    return parts_of_samples(description_.front_end, *stretch_.end());
  }
  std::string remark() const override {
    const SoundFile* file = stretch_.file();
    if (file != nullptr && file->energy_left() * file->channels() < kLeastEnergyLeft)
      return "its channels cancel each other: mixed to one, " +
             std::to_string(std::lround(100 * file->energy_left())) +
             " % of their energy is left; give one of them alone";
    if (hears_any_ == false)
      return "it is silent: nothing in it is as loud as " + number_text(description_.floor_db) +
             " dB of full scale";
    return {};
  }

  void make(const Digest& content, PartView wanted, float* out) override {
    const FrontEndDescription& d = description_.front_end;
    const std::int64_t step = d.patch_step(), room = step / 2;
    const SoundView view = sound_view_of(content, wanted.view, wanted.part);
    const auto whole = static_cast<std::size_t>(d.patch_samples());
    samples_.resize(whole);
    const auto before = std::exchange(plain_begin_, std::nullopt);
    if (wanted.part == kSilence) {
      SoundBackground silence = silence_of(content, wanted.view);
      silence.band = band();
      lay({}, silence, samples_);
      has_signal_ = false;
    } else if (const auto recording = short_recording(wanted.part)) {
      has_signal_ = hears(*recording);
      SoundBackground around = background_of(content, wanted.view, wanted.part, *recording);
      around.band = band();
      lay(*recording, around, samples_);
    } else {
      take_patch(view, wanted.part, step, room);
      if (wanted.view == 0) plain_begin_ = wanted.part * step;
    }
    hears_any_ = hears_any_.value_or(false) || has_signal_;
    disturb(view, samples_);
    const std::span<float> patch(out, front_end_->floats());
    if (!memory_) memory_.emplace(*front_end_);
    front_end_->patch(samples_, *memory_, patch.data(), frames_from(before));
    mask(view, d, patch);
    normalise(patch);
  }

  bool has_signal() const override { return has_signal_; }
  void release() override {
    stretch_.release();
    memory_.reset();
    plain_begin_.reset();
    samples_ = {};
  }

 private:
  void begin() {
    is_long_ = false;
    plain_begin_.reset();
    hears_any_.reset();
  }

  // How many frames what is made now lies behind what was made before.
  std::size_t frames_from(std::optional<std::int64_t> before) const {
    if (!before || !plain_begin_ || *plain_begin_ < *before) return FrontEnd::kElsewhere;
    return static_cast<std::size_t>((*plain_begin_ - *before) / description_.front_end.hop);
  }

  // The share of a patch's frequencies that the recording has.
  double band() const {
    const SoundFile* file = stretch_.file();
    if (file == nullptr) return 1;
    return std::min(1.0, static_cast<double>(file->rate()) / description_.front_end.rate);
  }

  bool hears(std::span<const float> samples) const {
    return data::has_signal(samples, description_.front_end.shortest_signal(),
                            description_.floor_db);
  }

  // One that is shorter than a patch, as a whole.
  std::optional<std::span<const float>> short_recording(std::uint32_t part) {
    if (part >= kShortPlaces || is_long_) return std::nullopt;
    auto found = short_one(stretch_, samples_.size());
    is_long_ = !found;
    return found;
  }

  void take_patch(const SoundView& view, std::uint32_t part, std::int64_t step, std::int64_t room) {
    const std::int64_t shift = std::llround(view.shift * static_cast<double>(room));
    const std::int64_t begin = std::int64_t{part} * step + shift;
    const auto found = stretch_.at(begin, samples_.size(), room + shift);
    samples_.assign(found.begin(), found.end());
    has_signal_ = hears(samples_);
  }

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
  bool is_long_ = false;                     // that it is, was seen
  std::optional<std::int64_t> plain_begin_;  // of what was made last, if it is as it was recorded
  bool has_signal_ = true;                   // what was made last
  std::optional<bool> hears_any_;            // of what was made since it was loaded; none: nothing
};

class SoundKind final : public Kind {
 public:
  explicit SoundKind(const SoundDescription& description)
      : description_(description),
        front_end_(std::make_shared<const FrontEnd>(description.front_end)) {
    if (!std::isfinite(description.mean) || !(description.stddev > 0) ||
        !std::isfinite(description.stddev))
      throw Error(ErrorCode::kInvalidArgument, "sound: 'std' must be above 0 and 'mean' a number");
    if (!(description.floor_db >= -200 && description.floor_db <= 0))
      throw Error(ErrorCode::kInvalidArgument,
                  "sound: 'floor_db' is decibels of full scale, -200 to 0");
  }

  std::string_view name() const override { return "sound"; }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"kind", name()}, {"front_end", data::to_json(description_.front_end)}};
    if (description_.mean != 0) json["mean"] = description_.mean;
    if (description_.stddev != 1) json["std"] = description_.stddev;
    if (description_.answer == PartAnswer::kMaximum) json["answer"] = "maximum";
    if (description_.training == PartTraining::kMean) json["train"] = "clips";
    if (description_.floor_db != kSoundFloor) json["floor_db"] = description_.floor_db;
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
    if (!d.is_spectrogram()) return {{d.window}};
    return {{d.channels(), d.frames, d.bands}};
  }
  bool takes(std::string_view media_type) const override { return is_sound(media_type); }
  bool has_parts() const override { return true; }
  std::uint32_t parts(std::span<const std::uint8_t> bytes, std::string_view name) const override {
    return parts_of(std::make_shared<SoundBytesInMemory>(bytes), name).count;
  }
  bool has_silence() const override { return true; }
  Signal signal(std::span<const std::uint8_t> bytes, std::string_view name) const override {
    const FrontEndDescription& d = description_.front_end;
    Stretch stretch;
    stretch.load({bytes.begin(), bytes.end()}, name, d.rate);
    const auto patch = static_cast<std::size_t>(d.patch_samples());
    const auto is_silent = [&](std::span<const float> samples) {
      return !has_signal(samples, d.shortest_signal(), description_.floor_db);
    };
    Signal found;
    if (const auto recording = short_one(stretch, patch)) {
      found.parts = kShortPlaces;
      if (is_silent(*recording))
        for (std::uint32_t part = 0; part < kShortPlaces; ++part) found.silent.push_back(part);
      return found;
    }
    const std::int64_t step = d.patch_step();
    for (std::uint32_t part = 0;; ++part) {
      const auto samples = stretch.at(part * step, patch, 0);
      if (const auto end = stretch.end()) found.parts = static_cast<std::uint32_t>(d.patches(*end));
      if (stretch.end() && part >= found.parts) return found;
      if (is_silent(samples)) found.silent.push_back(part);
    }
  }
  std::optional<PartPlaces> part_places(std::span<const std::uint8_t> bytes,
                                        std::string_view name) const override {
    return parts_of(std::make_shared<SoundBytesInMemory>(bytes), name).places;
  }
  bool streams() const override { return true; }
  SampleParts parts_of(std::shared_ptr<const SoundBytes> recording,
                       std::string_view name) const override {
    const FrontEndDescription& d = description_.front_end;
    return parts_of_samples(d, SoundStream(std::move(recording), name, d.rate).samples());
  }
  std::shared_ptr<const Kind> with_hop(double seconds) const override {
    SoundDescription other = description_;
    FrontEndDescription& d = other.front_end;
    const auto nearest = [&](int step, int most) {
      return static_cast<int>(std::clamp(std::round(seconds * d.rate / step), 1.0, double(most)));
    };
    if (d.is_spectrogram())
      d.patch_hop = nearest(d.hop, d.frames);
    else
      d.hop = nearest(1, d.window);
    return std::make_shared<SoundKind>(other);
  }
  PartPlaces endless_places() const override {
    constexpr std::int64_t kEver = std::int64_t{1} << 62;
    return parts_of_samples(description_.front_end, kEver).places;
  }
  PartAnswer part_answer() const override { return description_.answer; }
  PartTraining part_training() const override { return description_.training; }
  std::optional<std::size_t> working_bytes(std::span<const std::uint8_t>,
                                           std::uint64_t file_bytes) const override {
    const FrontEndDescription& d = description_.front_end;
    const std::int64_t patch = d.patch_samples(), step = d.patch_step();
    return 2 * file_bytes + kDecodingBytes + front_end_->memory_bytes() +
           Stretch::bytes(patch, step) + background_bytes(static_cast<std::size_t>(patch)) +
           3 * sizeof(float) * static_cast<std::size_t>(patch);
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
  if (fields.has("floor_db")) description.floor_db = fields.get<double>("floor_db");
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
      maker->make(dataset.digest(i), {0, part}, patch.data());
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
