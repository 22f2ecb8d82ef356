// What was measured on this device by this build: JSON that is kept across nights.
//
// A file of another build, or a damaged one, is as if it were not there: what was measured can be
// measured again. Not for two processes at once to write: the later one wins.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/json/json.h"

namespace moil::night {

class BuildRecord {
 public:
  explicit BuildRecord(std::filesystem::path file) : file_(std::move(file)) {}

  // An object. Its members are of this build, but not of any form.
  [[nodiscard]] std::optional<Json> load() const;
  // Replaces the file atomically, and makes its folder if that is missing. kIo.
  void save(Json record) const;

  // A file of objects by key. Empty: there is none of this key.
  [[nodiscard]] Json find(const std::string& key) const;
  // The file holds the `most` keys that were kept last.
  void keep(const std::string& key, Json object, std::size_t most) const;
  void forget(const std::string& key) const;

 private:
  std::filesystem::path file_;
};

}  // namespace moil::night
