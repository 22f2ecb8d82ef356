// The members of a backup's archive (docs/backup-format.md), and what tells that all are there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"

namespace moil::backup {

inline constexpr int kFormat = 1;
inline constexpr const char* kFirst = "backup.json";
inline constexpr const char* kLast = "end.json";

// What a backup is refused for.
[[nodiscard]] inline Error bad(const std::string& why) { return Error(ErrorCode::kBadData, why); }

// Whether a member between the two may have this path: one of the list, which leaves no folder.
[[nodiscard]] bool is_member(std::string_view path);

// Counts and digests the members before the last.
class Seal {
 public:
  void begin(const std::string& path, std::uint64_t size);
  void add(std::span<const std::uint8_t> piece) { hasher_.add(piece); }
  void add(const std::string& path, std::string_view content);  // a whole member
  // What the last member says.
  [[nodiscard]] Json told() const;

 private:
  Hasher hasher_;
  std::uint64_t files_ = 0;
};

}  // namespace moil::backup
