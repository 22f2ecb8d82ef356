#include "daemon/night/data/build_record.h"

#include <algorithm>

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

namespace {

// [{"key": KEY, "object": {}}], the one that was kept last first.
std::vector<Json> entries_of(const BuildRecord& file) {
  std::vector<Json> found;
  const auto record = file.load();
  if (!record || !record->contains("entries") || !record->at("entries").is_array()) return found;
  for (const Json& entry : record->at("entries"))
    if (entry.is_object() && entry.contains("key") && entry.value("object", Json()).is_object())
      found.push_back(entry);
  return found;
}

std::size_t erase(std::vector<Json>& entries, const std::string& key) {
  return std::erase_if(entries, [&](const Json& entry) { return entry.at("key") == key; });
}

}  // namespace

Json BuildRecord::find(const std::string& key) const {
  for (const Json& entry : entries_of(*this))
    if (entry.at("key") == key) return entry.at("object");
  return Json::object();
}

void BuildRecord::keep(const std::string& key, Json object, std::size_t most) const {
  std::vector<Json> entries = entries_of(*this);
  erase(entries, key);
  entries.insert(entries.begin(), Json{{"key", key}, {"object", std::move(object)}});
  entries.resize(std::min(entries.size(), most));
  save({{"entries", std::move(entries)}});
}

void BuildRecord::forget(const std::string& key) const {
  std::vector<Json> entries = entries_of(*this);
  if (erase(entries, key) > 0) save({{"entries", std::move(entries)}});
}

}  // namespace moil::night
