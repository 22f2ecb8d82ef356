#include "daemon/ctl/labels/sample_names.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files/file.h"
#include "daemon/ctl/labels/sample_files.h"
#include "datasets/identity/digest.h"
#include "datasets/labels/label_types.h"
#include "datasets/labels/text.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kDigestDigits = 32, kFewestDigits = 4, kShownDigits = 8;

bool is_hex(const std::string& text) {
  return text.size() >= kFewestDigits && text.size() <= kDigestDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// "beach.jpg" and "Photos/beach.jpg" of "/home/ann/Photos/beach.jpg".
bool ends_a_path(const std::string& name, const std::string& end) {
  if (end.empty() || !name.ends_with(end)) return false;
  return name.size() == end.size() || end.front() == '/' ||
         name[name.size() - end.size() - 1] == '/';
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
  });
  return text;
}

bool is_regular_file(const std::string& given) {
  std::error_code ignored;
  return fs::is_regular_file(given, ignored);
}

std::string name_and_labels(const Json& sample) {
  std::string text = sample.value("name", "");
  if (text.empty()) text = cell(sample["digest"]);
  if (!sample["labels"].empty()) text += " (" + joined(sample["labels"]) + ")";
  return printable(text);
}

[[noreturn]] void refuse_several(const std::string& given, const Json& found) {
  constexpr std::size_t kMostNamed = 5;
  std::string text =
      "\"" + given + "\" may be any of " + std::to_string(found.size()) + " samples:";
  for (std::size_t i = 0; i < std::min(found.size(), kMostNamed); ++i)
    text += (i == 0 ? " " : ", ") + cell(found[i]["digest"]).substr(0, kShownDigits) + " " +
            name_and_labels(found[i]);
  if (found.size() > kMostNamed) text += ", ...";
  throw Error(ErrorCode::kInvalidArgument, text + "; give more of the name, or of the digest");
}

}  // namespace

Json samples_called(const Json& samples, const std::string& given) {
  const std::string name = data::shown(fs::path(given).lexically_normal().string());
  const std::string digits = lower(given);
  Json found = Json::array();
  for (const Json& sample : samples) {
    const std::string digest = sample["digest"];
    if (ends_a_path(sample.value("name", ""), name) ||
        (is_hex(digits) && digest.starts_with(digits)))
      found.push_back(sample);
  }
  return found;
}

const Json& SampleNames::samples() {
  if (samples_.is_null())
    samples_ = session_.list("label.samples", {{"limit", 1000}}, "samples")["samples"];
  return samples_;
}

std::string SampleNames::digest_of(const std::string& given) {
  if (const std::string digits = lower(given); digits.size() == kDigestDigits && is_hex(digits))
    return digits;
  if (is_regular_file(given)) {
    const std::string digest = data::digest_of(read_file(given, data::kMaxSampleBytes)).hex();
    const auto is_it = [&](const Json& sample) { return sample["digest"] == digest; };
    if (std::ranges::any_of(samples(), is_it)) return digest;
    // Another file of that name may have been added; this one was not.
    throw Error(ErrorCode::kNotFound,
                given + ": no sample has what this file holds; see moilctl label samples");
  }
  const Json found = samples_called(samples(), given);
  if (found.size() > 1) refuse_several(given, found);
  if (found.size() == 1) return found[0]["digest"];
  throw Error(ErrorCode::kNotFound, "no sample is called \"" + given +
                                        "\", and no digest begins so; see moilctl label samples");
}

std::vector<std::string> SampleNames::digests_of(const std::vector<std::string>& given) {
  std::vector<std::string> digests;
  for (const std::string& one : given) digests.push_back(digest_of(one));
  return digests;
}

std::vector<std::string> SampleNames::digests_within(const std::vector<std::string>& given) {
  std::vector<std::string> digests;
  std::set<std::string> known, taken;
  const auto take = [&](std::string digest) {
    if (taken.insert(digest).second) digests.push_back(std::move(digest));
  };
  for (const std::string& one : given) {
    if (!fs::is_directory(one)) {
      take(digest_of(one));
      continue;
    }
    for (const Json& sample : samples()) known.insert(sample["digest"].get<std::string>());
    for (const fs::path& file : gather_samples({one}).files)
      if (const std::string digest = data::digest_of(read_file(file, data::kMaxSampleBytes)).hex();
          known.contains(digest))
        take(digest);
  }
  return digests;
}

std::string SampleNames::title(const std::string& digest) {
  const auto found = std::ranges::find_if(
      samples(), [&](const Json& sample) { return sample["digest"] == digest; });
  return found == samples().end() ? digest : name_and_labels(*found);
}

}  // namespace moil::daemon::ctl
