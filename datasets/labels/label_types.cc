#include "datasets/labels/label_types.h"

#include <algorithm>

#include "base/error.h"

namespace moil::data {
namespace {

constexpr std::size_t kMaxNameBytes = 200;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void check_name(const std::string& name) {
  const char* wrong = nullptr;
  if (name.empty()) wrong = "is empty";
  if (name.size() > kMaxNameBytes) wrong = "is longer than 200 bytes";
  if (std::ranges::any_of(name, is_control)) wrong = "holds a control character";
  if (name.starts_with(' ') || name.ends_with(' ')) wrong = "starts or ends in a space";
  if (!wrong) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the label '" + name.substr(0, kMaxNameBytes) + "' " + wrong);
}

}  // namespace

std::vector<std::string> checked_label_names(std::span<const std::string> names) {
  if (names.empty()) throw Error(ErrorCode::kInvalidArgument, "a sample needs a label");
  for (const auto& name : names) check_name(name);
  std::vector<std::string> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  const auto doubles = std::ranges::unique(sorted);
  sorted.erase(doubles.begin(), doubles.end());
  return sorted;
}

}  // namespace moil::data
