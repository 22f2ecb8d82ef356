#include "daemon/spec/any_file.h"

#include <system_error>

#include "base/error.h"
#include "base/files/file.h"
#include "base/json/json.h"

namespace moil::daemon {
namespace {

namespace fs = std::filesystem;

bool is_of_tokens(const fs::path& version) {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  try {
    const auto json = json_or_discarded(read_text(version / "preprocessing.json", kMostBytes));
    return json.is_object() && json.value("kind", nlohmann::json()) == "tokens";
  } catch (const Error&) {
    return false;  // no complete version
  }
}

std::vector<fs::path> within(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored))
    paths.push_back(entry->path());
  return paths;
}

}  // namespace

bool reads_any_file(const StateLayout& layout) {
  for (const fs::path& model : within(layout.models()))
    for (const fs::path& version : within(model))
      if (is_of_tokens(version)) return true;
  return false;
}

}  // namespace moil::daemon
