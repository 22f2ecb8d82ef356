// A kind: what a sample's bytes are to a network.
//
// A model takes samples of one kind, seen in one way: a Kind is both, an immutable value that the
// model's folder and a pack describe as JSON ({"kind": "image", ...}). Whoever handles samples asks
// the kind and knows nothing else of what they are. docs/kinds.md says how to add one.
//
// A Kind may be asked from any thread; a SampleMaker is one thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/identity/digest.h"
#include "datasets/identity/likeness.h"

namespace moil::data {

class SoundBytes;

// What augmented views of a sample may do, beside what every kind's views do.
struct ViewRules {
  bool flip = true;  // mirror it, if the kind can
};

// In place of a part: what the kind shows if there is no signal (Kind::has_silence()).
inline constexpr std::uint32_t kSilence = 0xFFFFFFFF;

// What of a sample a network sees at once: a view of one of its parts.
struct PartView {
  std::uint16_t view = 0;  // 0: plain
  std::uint32_t part = 0;  // below Kind::parts() of it, or kSilence
};

// How the outputs of a sample's parts become one answer, element by element.
enum class PartAnswer : std::uint8_t { kMean, kMaximum };

// Where the parts of a sample lie in it: the part i from i * hop on, `length` long, none beyond
// `end`. A hop of 0: each of them is all of the sample.
struct PartPlaces {
  double hop = 0, length = 0, end = 0;
  std::string_view unit;  // "seconds"
};

// How many parts a sample has, and where they lie.
struct SampleParts {
  std::uint32_t count = 1;
  PartPlaces places;
};

// What of a sample training shows: one part after the other, an epoch each, or, if the trained
// layers read a vector a part, the mean of its parts' vectors.
enum class PartTraining : std::uint8_t { kEach, kMean };

// Turns samples into what a network takes, one after the other. Holds its working memory between
// calls, so that none is taken per sample once it has grown.
class SampleMaker {
 public:
  virtual ~SampleMaker() = default;

  // The sample that the functions below are asked about, until the next one. `bytes` are its file's
  // and not needed afterwards. kBadData, beginning with `name`, for a file that cannot be read.
  virtual void load(std::span<const std::uint8_t> bytes, std::string_view name) = 0;
  // The same of a recording that is read as it is needed; only if Kind::streams().
  virtual void stream(std::shared_ptr<const SoundBytes> /*recording*/, std::string_view /*name*/) {}
  // What is to be said of the sample, of what was made of it so far; empty if there is nothing.
  [[nodiscard]] virtual std::string remark() const { return {}; }
  // Writes Kind::floats() values, one input after the other, in the network's memory order
  // (channels last): the view of this number that the sample of this content has, on every machine,
  // of the sample's part. kBadData if the sample does not fit what the kind describes.
  virtual void make(const Digest& content, PartView wanted, float* out) = 0;
  // Whether what was made last holds a signal (Kind::signal()).
  [[nodiscard]] virtual bool has_signal() const { return true; }
  // The parts of a recording that is read as it is needed, once what was made shows where it ends:
  // what was made of one behind them is nothing. Only if Kind::streams().
  [[nodiscard]] virtual std::optional<SampleParts> parts() const { return std::nullopt; }
  // What the sample looks like; nothing if the kind has no such thing, or the sample too little.
  [[nodiscard]] virtual std::optional<Likeness> likeness() { return std::nullopt; }
  // Gives back what it holds.
  virtual void release() = 0;
};

class Kind {
 public:
  virtual ~Kind() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // "image"
  // What kind_from_json() reads.
  [[nodiscard]] virtual nlohmann::json to_json() const = 0;
  // 32 hexadecimal digits; changes with the description and with the arithmetic behind it.
  [[nodiscard]] virtual std::string fingerprint() const = 0;
  // Dims of each of the network's inputs, without the batch, channels first.
  using Dims = std::vector<std::int64_t>;
  [[nodiscard]] virtual std::vector<Dims> inputs() const = 0;
  // If what it makes are whole numbers, rows of a table: how many rows there are. 0: any floats.
  [[nodiscard]] virtual std::int64_t symbols() const { return 0; }
  // Whether more of them may become known, as ids and characters do: those of a sample that it does
  // not know, as texts (kBadData as load()), and the same kind with these at the end, in this
  // order. Then row 0 is of what it does not know.
  [[nodiscard]] virtual bool can_learn_symbols() const { return false; }
  [[nodiscard]] virtual std::vector<std::string> unknown_symbols(
      std::span<const std::uint8_t> /*bytes*/, std::string_view /*name*/) const {
    return {};
  }
  [[nodiscard]] virtual std::shared_ptr<const Kind> with_symbols(
      const std::vector<std::string>& /*fresh*/) const {
    return nullptr;
  }
  [[nodiscard]] std::size_t floats() const;  // of one sample, all inputs together

  // Whether samples of this media type (labels/media_type.h) are of this kind.
  [[nodiscard]] virtual bool takes(std::string_view media_type) const = 0;
  // What loading and making a sample takes at most, its file's bytes included, by the first bytes
  // of the file and its size: a promise, for a night makes room for no more. Empty if these do not
  // show it, but all of its bytes may; if these do not show it either, it cannot be read.
  [[nodiscard]] virtual std::optional<std::size_t> working_bytes(
      std::span<const std::uint8_t> head, std::uint64_t file_bytes) const = 0;

  // Whether a sample may have more than one part: then parts() is asked of every sample.
  [[nodiscard]] virtual bool has_parts() const { return false; }
  // A sample's file has at least 1. kBadData, beginning with `name`, for one that cannot be read.
  [[nodiscard]] virtual std::uint32_t parts(std::span<const std::uint8_t> /*bytes*/,
                                            std::string_view /*name*/) const {
    return 1;
  }
  // Whether parts of a sample may hold no signal, and a part kSilence can be made of every sample.
  // What holds none teaches no label, and says nothing beside parts that hold one.
  [[nodiscard]] virtual bool has_silence() const { return false; }
  // How many parts it has and which of them hold no signal, in order: parts() and more, found in
  // one reading.
  struct Signal {
    std::uint32_t parts = 1;
    std::vector<std::uint32_t> silent = {};
  };
  [[nodiscard]] virtual Signal signal(std::span<const std::uint8_t> bytes,
                                      std::string_view name) const {
    return {parts(bytes, name)};
  }
  // Nothing if a sample has one part. Asked as parts() is.
  [[nodiscard]] virtual std::optional<PartPlaces> part_places(
      std::span<const std::uint8_t> /*bytes*/, std::string_view /*name*/) const {
    return std::nullopt;
  }
  // Whether a sample may be a recording that is larger than memory: parts of it are made while it
  // is read.
  [[nodiscard]] virtual bool streams() const { return false; }
  // Where its parts lie, and how many there are, as above; only if it streams.
  [[nodiscard]] virtual SampleParts parts_of(std::shared_ptr<const SoundBytes> /*recording*/,
                                             std::string_view /*name*/) const {
    return {};
  }
  // The same kind, but that parts begin so many seconds one behind the other, as near to that as
  // they can, and where they lie in a recording without an end; only if it streams.
  [[nodiscard]] virtual std::shared_ptr<const Kind> with_hop(double /*seconds*/) const {
    return nullptr;
  }
  [[nodiscard]] virtual PartPlaces endless_places() const { return {}; }
  [[nodiscard]] virtual PartAnswer part_answer() const { return PartAnswer::kMean; }
  [[nodiscard]] virtual PartTraining part_training() const { return PartTraining::kEach; }

  // Whether a sample can be seen in other views than the plain one.
  [[nodiscard]] virtual bool has_views() const { return true; }
  // Whether SampleMaker::likeness() tells one of any sample.
  [[nodiscard]] virtual bool has_likeness() const { return false; }
  // It does not need the kind any more.
  [[nodiscard]] virtual std::unique_ptr<SampleMaker> maker(const ViewRules& rules) const = 0;
};

using KindPtr = std::shared_ptr<const Kind>;

// What Kind::to_json() gave; a description without "kind" is an image's, as all were once.
// kInvalidArgument, naming the field, for what no kind describes.
[[nodiscard]] KindPtr kind_from_json(const nlohmann::json& json);

// Adds a kind of the caller's, before any thread asks for one. fields: without "kind".
// kAlreadyExists.
using KindReader = std::function<KindPtr(const nlohmann::json& fields)>;
void register_kind(const std::string& name, KindReader reader);

}  // namespace moil::data
