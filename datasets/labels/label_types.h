// What the label store takes and gives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/identity/digest.h"
#include "datasets/identity/likeness.h"
#include "datasets/identity/split.h"

namespace moil::data {

inline constexpr std::uint64_t kInlineBytes = 32 << 10;
inline constexpr std::uint64_t kMaxSampleBytes = 64 << 20;
inline constexpr std::size_t kMaxSampleName = 1000;  // bytes
inline constexpr double kValidationFraction = 0.2;
inline constexpr std::uint64_t kSamplesNeedingValidation = 5;

struct LabelCount {
  std::string name;
  std::uint64_t samples = 0;     // all
  std::uint64_t validation = 0;  // of them held out
};

struct StoreCounts {
  std::uint64_t labels = 0, samples = 0;
};

struct SampleRecord {
  std::int64_t id = 0;  // grows with every sample that is added
  Digest digest;
  std::string name;  // of the file, as the user gave it; empty where it is not known
  std::string media_type;
  std::uint64_t size = 0;     // bytes
  std::int64_t added_at = 0;  // seconds since 1970
  Split split = Split::kTrain;
  std::int64_t scene = 0;     // samples that share it look alike; 0: it is of a scene of its own
  bool is_looked_at = false;  // what it looks like is known, or that this cannot be known
  std::vector<std::string> labels;  // sorted
};

struct SampleLikeness {
  Digest digest;
  std::optional<Likeness> likeness;  // nothing: it cannot be read, or looks like nothing
};

struct SampleQuery {
  std::optional<std::string> label;
  std::optional<Split> split;
  std::int64_t after_id = 0;  // the last id of the page before
  std::size_t limit = 100;
};

struct AddedSample {
  Digest digest;
  Split split = Split::kTrain;
  bool is_new = false;  // false: the same content was there already, with these labels
};

// A sample that the store no longer has, of which others still may have something.
struct ForgottenSample {
  Digest digest;
  std::string name;
};

// What a message calls a sample: its name, where it is known, and its digest.
[[nodiscard]] std::string spoken_name(const Digest& digest, const std::string& name);

// Local label -> one or more global labels (Table 5.1 of the MoIL thesis).
using Reconciliation = std::map<std::string, std::vector<std::string>>;

// Normal (text.h), sorted and without doubles. kInvalidArgument where there is none, or one is
// empty, longer than 200 bytes, starts or ends in a space, or holds what no name may
// (unfit_characters()).
[[nodiscard]] std::vector<std::string> checked_label_names(std::span<const std::string> names);

}  // namespace moil::data
