#include "datasets/sounds/sound_streams.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "datasets/sounds/spliced_bytes.h"

namespace moil::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_at(const SoundBytes& file, std::int64_t at, std::size_t size) {
  Bytes bytes(size);
  bytes.resize(file.read(at, bytes));
  return bytes;
}

std::uint64_t number_at(const Bytes& bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number |= std::uint64_t{bytes[at + i]} << (8 * i);
  return number;
}

void append(Bytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

void append(Bytes& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    bytes.push_back(static_cast<std::uint8_t>(number >> 8 * i));
}

bool starts_with(const Bytes& bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::equal(text.begin(), text.end(), bytes.begin());
}

// A file of chunks, each of four letters, a size, and so many bytes.
class Wav {
 public:
  explicit Wav(const SoundBytes& file) : file_(file) { walk(); }

  // Null if the head is right.
  std::unique_ptr<SoundBytes> mended() const {
    if (format_.size() < kLeastFormatBytes || data_.empty()) return nullptr;
    std::int64_t samples = 0;
    for (const auto& [from, size] : data_) samples += size;
    // What needs no long numbers is shown without: libsndfile wants all of them right.
    const bool is_short = told_elsewhere_ && samples < kMostShort;
    if (!lies_ && !is_short) return nullptr;
    auto whole = std::make_unique<SplicedBytes>(file_);
    whole->add(head(static_cast<std::uint64_t>(samples)));
    for (const auto& [from, size] : data_) whole->add(from, size);
    return whole;
  }

 private:
  static constexpr std::int64_t kChunkHead = 8, kFirstChunk = 12;
  static constexpr std::uint64_t kOpen = 0xffffffff;  // RF64 tells it elsewhere; others do not know
  // Who writes to a pipe and knows no length tells one from here on: 2 GiB and a little less, or 4.
  static constexpr std::uint64_t kNoLength = 0x7f000000;
  static constexpr std::int64_t kMostFormatBytes = 1 << 16, kMostShort = std::int64_t{1} << 31;
  static constexpr std::size_t kLeastFormatBytes = 16;
  static constexpr int kMostChunks = 4096;

  struct Chunk {
    Bytes name;
    std::int64_t at = 0;  // of its content
    std::uint64_t size = 0;
  };

  std::optional<Chunk> chunk_at(std::int64_t at) const {
    Bytes head = bytes_at(file_, at, kChunkHead);
    if (head.size() < kChunkHead) return std::nullopt;
    const std::uint64_t size = number_at(head, 4, 4);
    head.resize(4);
    const bool has_name = std::ranges::all_of(head, [](auto c) { return c >= ' ' && c <= '~'; });
    if (!has_name) return std::nullopt;
    return Chunk{std::move(head), at + kChunkHead, size};
  }

  void walk() {
    std::int64_t at = kFirstChunk;
    for (int i = 0; i < kMostChunks && at >= 0; ++i) {
      const auto chunk = chunk_at(at);
      if (!chunk) return;
      at = starts_with(chunk->name, "data") ? take_data(*chunk) : pass(*chunk);
    }
  }

  // Where the next chunk begins.
  std::int64_t pass(const Chunk& chunk) {
    if (starts_with(chunk.name, "fmt ") && chunk.size <= kMostFormatBytes)
      format_ = bytes_at(file_, chunk.at, chunk.size);
    if (starts_with(chunk.name, "ds64")) {
      const Bytes sizes = bytes_at(file_, chunk.at, 16);
      if (sizes.size() == 16) told_elsewhere_ = number_at(sizes, 8, 8);
    }
    return behind(chunk.at, chunk.size);
  }

  std::int64_t behind(std::int64_t at, std::uint64_t size) const {
    const std::uint64_t left = static_cast<std::uint64_t>(file_.size() - at);
    return size >= left ? -1 : at + static_cast<std::int64_t>(size + size % 2);
  }

  std::int64_t take_data(const Chunk& chunk) {
    const std::uint64_t told = chunk.size == kOpen ? told_elsewhere_.value_or(kOpen) : chunk.size;
    const std::uint64_t left = static_cast<std::uint64_t>(file_.size() - chunk.at);
    const bool is_open = file_.is_endless()
                             ? told == 0 || told >= kNoLength
                             : left > told && left - told > told && !is_chunk(chunk.at, told);
    const std::uint64_t size = is_open ? left : std::min(told, left);
    const bool knows_none = chunk.size == kOpen && !told_elsewhere_;
    lies_ = lies_ || is_open || knows_none || !data_.empty() || file_.is_endless();
    if (size > 0 || data_.empty()) data_.emplace_back(chunk.at, static_cast<std::int64_t>(size));
    return file_.is_endless() ? -1 : behind(chunk.at, size);
  }

  // Whether another follows behind so many bytes, and fits.
  bool is_chunk(std::int64_t at, std::uint64_t size) const {
    const auto next = chunk_at(at + static_cast<std::int64_t>(size + size % 2));
    return next && next->size <= static_cast<std::uint64_t>(file_.size() - next->at);
  }

  Bytes head(std::uint64_t samples) const {
    const std::uint64_t rest = 4 + 36 + 8 + format_.size() + format_.size() % 2 + 8;
    const bool is_long = samples + rest >= kOpen;
    Bytes head;
    append(head, is_long ? "RF64" : "RIFF");
    append(head, is_long ? kOpen : samples + rest - 36, 4);
    append(head, "WAVE");
    if (is_long) {
      append(head, "ds64");
      append(head, 28, 4);
      append(head, samples + rest, 8);
      append(head, samples, 8);
      append(head, samples / std::max<std::uint64_t>(1, number_at(format_, 12, 2)), 8);
      append(head, 0, 4);
    }
    append(head, "fmt ");
    append(head, format_.size(), 4);
    head.insert(head.end(), format_.begin(), format_.end());
    if (format_.size() % 2 == 1) head.push_back(0);
    append(head, "data");
    append(head, is_long ? kOpen : samples, 4);
    return head;
  }

  const SoundBytes& file_;
  Bytes format_;
  std::optional<std::uint64_t> told_elsewhere_;
  std::vector<std::pair<std::int64_t, std::int64_t>> data_;  // from, size
  bool lies_ = false;
};

// The number of samples is 36 bits of the first block, which is always the same.
constexpr std::size_t kFlacNumberAt = 21, kFlacHeadBytes = 26;

bool is_flac(const Bytes& head) {
  return head.size() == kFlacHeadBytes && starts_with(head, "fLaC") && (head[4] & 0x7f) == 0;
}

std::unique_ptr<SoundBytes> open_ended_flac(const SoundBytes& file) {
  Bytes head = bytes_at(file, 0, kFlacHeadBytes);
  if (!is_flac(head)) return nullptr;
  head[kFlacNumberAt] &= 0xf0;
  std::fill(head.begin() + kFlacNumberAt + 1, head.end(), std::uint8_t{0});
  auto open = std::make_unique<SplicedBytes>(file);
  open->add(std::move(head));
  open->add(kFlacHeadBytes, file.size() - static_cast<std::int64_t>(kFlacHeadBytes));
  return open;
}

// Where each stream of an Ogg file begins: a page that begins one stands there, and none that goes
// one on is before it since the last. Behind damage the next page is looked for.
class OggPages {
 public:
  explicit OggPages(const SoundBytes& file) : file_(file) {}

  std::vector<std::int64_t> beginnings() {
    std::vector<std::int64_t> begins;
    bool goes_on = true;
    for (std::int64_t at = next_page(0); at >= 0 && begins.size() < kMostStreams;) {
      const Bytes head = bytes_at(file_, at, kMostHeadBytes);
      const bool is_first = (head[5] & 2) != 0;
      if (is_first && goes_on) begins.push_back(at);
      goes_on = !is_first;
      const std::size_t segments = head[26];
      std::int64_t size = static_cast<std::int64_t>(kHeadBytes + segments);
      for (std::size_t i = 0; i < std::min(segments, head.size() - kHeadBytes); ++i)
        size += head[kHeadBytes + i];
      at = next_page(at + size);
    }
    return begins;
  }

 private:
  static constexpr std::size_t kHeadBytes = 27, kMostHeadBytes = kHeadBytes + 255;
  static constexpr std::size_t kMostStreams = 4096, kBlock = 1 << 16;

  // From `at` on; -1 if there is none.
  std::int64_t next_page(std::int64_t at) {
    constexpr std::string_view kMark("OggS\0", 5);
    const Bytes here = bytes_at(file_, at, kHeadBytes);
    if (here.size() == kHeadBytes && starts_with(here, kMark)) return at;
    for (; at < file_.size(); at += kBlock) {
      const Bytes block = bytes_at(file_, at, kBlock + kHeadBytes);
      const auto found = std::search(block.begin(), block.end(), kMark.begin(), kMark.end());
      if (block.end() - found >= static_cast<std::ptrdiff_t>(kHeadBytes))
        return at + (found - block.begin());
    }
    return -1;
  }

  const SoundBytes& file_;
};

std::unique_ptr<SoundBytes> stretch_of(const SoundBytes& file, std::int64_t from, std::int64_t to) {
  auto stretch = std::make_unique<SplicedBytes>(file);
  stretch->add(from, to - from);
  return stretch;
}

}  // namespace

std::vector<std::unique_ptr<SoundBytes>> streams_of(const SoundBytes& file) {
  std::vector<std::unique_ptr<SoundBytes>> streams;
  const Bytes head = bytes_at(file, 0, 12);
  if (starts_with(head, "RIFF") || starts_with(head, "RF64") || starts_with(head, "BW64"))
    streams.push_back(Wav(file).mended());
  else if (starts_with(head, "fLaC"))
    streams.push_back(open_ended_flac(file));
  else if (starts_with(head, "OggS")) {
    std::vector<std::int64_t> begins = OggPages(file).beginnings();
    if (begins.size() > 1) {
      begins.push_back(file.size());
      for (std::size_t i = 0; i + 1 < begins.size(); ++i)
        streams.push_back(stretch_of(file, begins[i], begins[i + 1]));
    }
  }
  std::erase(streams, nullptr);
  if (streams.empty()) streams.push_back(stretch_of(file, 0, file.size()));
  return streams;
}

std::int64_t samples_told_by_flac(const SoundBytes& file) {
  const Bytes head = bytes_at(file, 0, kFlacHeadBytes);
  if (!is_flac(head)) return 0;
  std::int64_t samples = head[kFlacNumberAt] & 0x0f;
  for (std::size_t i = kFlacNumberAt + 1; i < kFlacHeadBytes; ++i) samples = samples << 8 | head[i];
  return samples;
}

}  // namespace moil::data
