#include "daemon/night/data/build_record.h"

#include "base/files/file.h"
#include "base/version.h"

namespace moil::night {

std::optional<Json> BuildRecord::load() const {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file_, error)) return std::nullopt;
  auto json = json_or_discarded(read_text(file_));
  if (!json.is_object() || json.value("version", Json()) != kVersion) return std::nullopt;
  return json;
}

void BuildRecord::save(Json record) const {
  record["version"] = kVersion;
  std::filesystem::create_directories(file_.parent_path());
  write_file_atomic(file_, record.dump(1) + "\n");
}

void BuildRecord::forget() const {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

}  // namespace moil::night
