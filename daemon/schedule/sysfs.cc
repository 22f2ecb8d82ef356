#include "daemon/schedule/sysfs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

namespace fs = std::filesystem;

namespace moil::daemon {

std::string sysfs_word(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  in >> text;
  return text;
}

std::string sysfs_line(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  return text;
}

std::optional<double> sysfs_number(const fs::path& file) {
  const std::string text = sysfs_word(file);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end == text.c_str() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<fs::path> sysfs_entries(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    out.push_back(entry->path());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace moil::daemon
