#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

namespace moil {

// The paths in a folder, in no order; the paths found so far if it cannot be read to its end.
[[nodiscard]] inline std::vector<std::filesystem::path> entries_of(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error))
    entries.push_back(entry->path());
  return entries;
}

}  // namespace moil
