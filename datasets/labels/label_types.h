// What the label store takes and gives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "datasets/identity/digest.h"
#include "datasets/identity/likeness.h"
#include "datasets/identity/split.h"

namespace moil::data {

inline constexpr std::uint64_t kInlineBytes = 32 << 10;
inline constexpr std::uint64_t kMaxSampleBytes = 64 << 20;
inline constexpr std::size_t kMaxSampleName = 1000;  // bytes
inline constexpr double kValidationFraction = 0.2;
inline constexpr std::uint64_t kSamplesNeedingValidation = 5;

// What the store refuses of a sample before anything is kept: kBadData for one that is empty;
// kResourceExhausted for one that is too large.
void check_sample_content(std::span<const std::uint8_t> content);
// kBadData for what no kind reads that reads its own media alone (media_type.h).
void check_sample_media(std::span<const std::uint8_t> content);

struct LabelCount {
  std::string name;
  std::uint64_t samples = 0;     // all
  std::uint64_t validation = 0;  // of them held out
};

struct StoreCounts {
  std::uint64_t labels = 0, samples = 0;  // denials are no labels
  std::uint64_t unlabelled = 0;           // of the samples
};

struct SampleRecord {
  std::int64_t id = 0;  // grows with every sample that is added, or gets its first label
  Digest digest;
  std::string name;  // of the file, as the user gave it; empty if it is not known
  std::string media_type;
  std::uint64_t size = 0;     // bytes
  std::int64_t added_at = 0;  // seconds since 1970
  Split split = Split::kTrain;
  std::int64_t scene = 0;     // samples that share it look alike; 0: it is of a scene of its own
  bool is_looked_at = false;  // what it looks like is known, or that this cannot be known
  bool is_used = false;       // a night may have used it on the side on which it lies
  std::vector<std::string> labels;  // sorted; none: nobody has said what it is
};

struct SampleLikeness {
  Digest digest;
  std::optional<Likeness> likeness;  // nothing: it cannot be read, or looks like nothing
};

// A sample that was added, or of which what is right has changed.
struct SampleChange {
  Digest digest;
  std::int64_t number = 0;       // grows with every change; samples' ids are of the same numbers
  bool has_other_labels = true;  // or is new; false: its labels are called or mapped otherwise
  bool is_labelled = false;
};

struct SampleQuery {
  std::optional<std::string> label;
  std::optional<Split> split;
  std::optional<bool> labelled;
  std::int64_t after_id = 0;  // the last id of the page before
  std::size_t limit = 100;
};

struct AddedSample {
  Digest digest;
  Split split = Split::kTrain;
  bool is_new = false;  // false: the same content was there already, with these labels
};

// What undo() did.
struct UndoneStep {
  std::string kind;                 // "add", "assign", "relabel", "rename", "merge", "rm", "map"
  std::int64_t at = 0;              // when that was done, seconds since 1970
  std::vector<std::string> labels;  // that it had to do with
  std::size_t restored = 0;         // samples that have the labels again that they had
  std::size_t forgotten = 0;        // samples that it had added
  std::vector<Digest> kept;         // samples that were changed since, and stay so
  std::size_t left = 0;             // steps that can be undone still
};

// undo() would forget samples, and was not told that it may. kFailedPrecondition.
struct WouldForget : Error {
  WouldForget(const std::string& step, std::size_t count);
  std::size_t samples;
};

// A label that is new and differs from one that is there in case alone. kAlreadyExists.
struct OtherCase : Error {
  OtherCase(const std::string& new_label, const std::string& there);
  std::string given, label;
};

// A sample that the store no longer has, of which others still may have something.
struct ForgottenSample {
  Digest digest;
  std::string name;
};

// What a message calls a sample: its name, if it is known, and its digest.
[[nodiscard]] std::string spoken_name(const Digest& digest, const std::string& name);

// Local label -> one or more global labels (Table 5.1 of the MoIL thesis).
using Reconciliation = std::map<std::string, std::vector<std::string>>;

// Normal (text.h), sorted and without doubles. kInvalidArgument if there is none, or one is
// empty, longer than 200 bytes, starts or ends in a space, or holds what no name may
// (unfit_characters()); if kSomethingElse is one of several; and if a denial (denial.h) denies
// nothing, another denial or one of the names.
[[nodiscard]] std::vector<std::string> checked_label_names(std::span<const std::string> names);

}  // namespace moil::data
