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

Json BuildRecord::objects_in(const char* member) const {
  const auto record = load();
  Json found = Json::object();
  if (!record || !record->contains(member) || !record->at(member).is_object()) return found;
  for (const auto& [key, value] : record->at(member).items())
    if (value.is_object()) found[key] = value;
  return found;
}

void BuildRecord::save(Json record) const {
  record["version"] = kVersion;
  std::filesystem::create_directories(file_.parent_path());
  write_file_atomic(file_, record.dump(1) + "\n");
}

}  // namespace moil::night
