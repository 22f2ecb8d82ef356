// Small files of /sys and /proc: a word or a number each. What cannot be read is empty.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace moil::daemon {

std::string sysfs_word(const std::filesystem::path& file);
std::string sysfs_line(const std::filesystem::path& file);
std::optional<double> sysfs_number(const std::filesystem::path& file);
// The entries of a folder, by name.
std::vector<std::filesystem::path> sysfs_entries(const std::filesystem::path& folder);

}  // namespace moil::daemon
