#include "datasets/labels/label_types.h"

#include <algorithm>

#include "base/error.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/media_type.h"
#include "datasets/labels/something_else.h"
#include "datasets/labels/text.h"

namespace moil::data {
namespace {

constexpr std::size_t kMaxNameBytes = 200;

std::string checked(const std::string& given) {
  const std::string name = normal(given), denied = without_denial(name);
  std::string_view wrong = unfit_characters(name);
  if (name.empty()) wrong = "is empty";
  if (is_denial(name) && denied.empty()) wrong = "denies nothing: a label's name follows the '!'";
  if (is_denial(denied)) wrong = "denies a denial";
  if (name.size() > kMaxNameBytes) wrong = "is longer than 200 bytes";
  if (wrong.empty() && trimmed(denied) != denied) wrong = "starts or ends in a space";
  if (wrong.empty()) return name;
  throw Error(ErrorCode::kInvalidArgument,
              "the label '" + shown(name.substr(0, kMaxNameBytes)) + "' " + std::string(wrong));
}

}  // namespace

void check_sample_content(std::span<const std::uint8_t> content) {
  const std::uint64_t size = content.size();
  if (size == 0) throw Error(ErrorCode::kBadData, "it is empty");
  if (size > kMaxSampleBytes) {
    throw Error(ErrorCode::kResourceExhausted, "the sample has " + std::to_string(size) +
                                                   " bytes, at most " +
                                                   std::to_string(kMaxSampleBytes) + " are taken");
  }
}

void check_sample_media(std::span<const std::uint8_t> content) {
  const auto type = media_type_of(content);
  if (!is_taken(type)) throw Error(ErrorCode::kBadData, media_refusal(type));
}

std::vector<std::string> checked_label_names(std::span<const std::string> names) {
  if (names.empty()) throw Error(ErrorCode::kInvalidArgument, "a sample needs a label");
  std::vector<std::string> sorted;
  for (const auto& name : names) sorted.push_back(checked(name));
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (sorted.size() > 1 && std::ranges::find(sorted, kSomethingElse) != sorted.end())
    throw Error(ErrorCode::kInvalidArgument,
                "the label '" + std::string(kSomethingElse) +
                    "' says that a sample is of none of the others: give it alone");
  for (const auto& name : sorted)
    if (is_denial(name) && std::ranges::binary_search(sorted, without_denial(name)))
      throw Error(ErrorCode::kInvalidArgument, "a sample is not both '" + without_denial(name) +
                                                   "' and not '" + without_denial(name) + "'");
  return sorted;
}

WouldForget::WouldForget(const std::string& step, std::size_t count)
    : Error(ErrorCode::kFailedPrecondition, "to undo the last step, \"label " + step +
                                                "\", would forget " + std::to_string(count) +
                                                (count == 1 ? " sample" : " samples") +
                                                " for good; say that it may (with_samples)"),
      samples(count) {}

OtherCase::OtherCase(const std::string& new_label, const std::string& there)
    : Error(ErrorCode::kAlreadyExists,
            "there is a label '" + there + "', and '" + new_label +
                "' differs from it in case alone; give that one, or say that another is meant "
                "(as_spelled)"),
      given(new_label),
      label(there) {}

std::string spoken_name(const Digest& digest, const std::string& name) {
  return name.empty() ? "sample " + digest.hex() : name + " (sample " + digest.hex() + ")";
}

}  // namespace moil::data
