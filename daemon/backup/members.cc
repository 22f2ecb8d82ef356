#include "daemon/backup/members.h"

#include <algorithm>
#include <array>
#include <vector>

#include "daemon/spec/job_spec.h"
#include "daemon/spec/model_files.h"

namespace moil::backup {
namespace {

std::vector<std::string> split_at_slashes(std::string_view path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool is_name(const std::string& text) { return !daemon::check_name(text); }

bool is_version(const std::string& text) {
  return !text.empty() && text.size() < 19 && text[0] != '0' &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_of_version(const std::vector<std::string>& parts) {
  return parts.size() == 4 && is_name(parts[1]) && is_version(parts[2]) &&
         std::ranges::find(daemon::kModelFiles, parts[3]) != daemon::kModelFiles.end();
}

bool is_of_pack(const std::vector<std::string>& parts) {
  return parts.size() == 3 && is_name(parts[1]) && !parts[2].empty() && parts[2][0] != '.' &&
         parts[2].find('\0') == std::string::npos;
}

bool is_profile(const std::vector<std::string>& parts) {
  constexpr std::string_view kEnding = ".json";
  if (parts.size() != 3 || (parts[1] != "accuracy" && parts[1] != "settings")) return false;
  return parts[2].ends_with(kEnding) &&
         is_name(parts[2].substr(0, parts[2].size() - kEnding.size()));
}

bool is_sample(const std::vector<std::string>& parts) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return parts.size() == 4 && parts[1] == "files" && parts[2].size() == 2 &&
         parts[3].size() == 32 && parts[3].starts_with(parts[2]) &&
         parts[3].find_first_not_of(kDigits) == std::string::npos;
}

}  // namespace

bool is_member(std::string_view path) {
  for (const char* single : {"moild.db", "labels/labels.db", "profiles/kernels.json"})
    if (path == single) return true;
  const auto parts = split_at_slashes(path);
  if (parts[0] == "models") return is_of_version(parts);
  if (parts[0] == "packs") return is_of_pack(parts);
  if (parts[0] == "profiles") return is_profile(parts);
  return parts[0] == "labels" && is_sample(parts);
}

void Seal::begin(const std::string& path, std::uint64_t size) {
  ++files_;
  hasher_.add(path.c_str(), path.size() + 1);
  std::array<std::uint8_t, 8> bytes{};
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(size);
    size >>= 8;
  }
  hasher_.add(bytes);
}

void Seal::add(const std::string& path, std::string_view content) {
  begin(path, content.size());
  hasher_.add(content.data(), content.size());
}

Json Seal::told() const { return {{"files", files_}, {"digest", to_hex(hasher_.hash128())}}; }

}  // namespace moil::backup
