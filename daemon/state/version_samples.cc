#include "daemon/state/version_samples.h"

#include <map>
#include <set>

namespace moil::daemon {
namespace {

// A version and all that were made from it, or that it was made from.
constexpr const char* kAncestors =
    "WITH RECURSIVE line (version) AS (VALUES (?2) UNION SELECT parent FROM versions "
    "JOIN line USING (version) WHERE model = ?1 AND parent IS NOT NULL) ";
constexpr const char* kDescendants =
    "WITH RECURSIVE line (version) AS (VALUES (?2) UNION SELECT versions.version FROM versions "
    "JOIN line ON parent = line.version WHERE model = ?1) ";

}  // namespace

void VersionSamples::record(const Version& version, std::span<const data::Digest> samples) {
  // Once, for there may be many samples.
  Statement line(db_, std::string(kAncestors) + "SELECT version FROM line");
  line.bind(std::string_view(version.first)).bind(version.second);
  std::string ancestors;
  while (line.step()) ancestors += (ancestors.empty() ? "" : ",") + std::to_string(line.integer(0));
  Statement insert(
      db_,
      "INSERT OR IGNORE INTO version_samples SELECT ?1, ?2, ?3 WHERE NOT EXISTS "
      "(SELECT 1 FROM version_samples WHERE digest = ?3 AND model = ?1 AND version IN (" +
          ancestors + "))");
  for (const data::Digest& sample : samples) {
    insert.bind(std::string_view(version.first)).bind(version.second).bind(sample.bytes).run();
  }
}

std::vector<VersionSamples::Version> VersionSamples::forget(std::span<const data::Digest> samples) {
  std::map<Version, std::int64_t> learned;  // how many of them
  std::map<Version, std::vector<Version>> lines;
  Statement direct(db_, "SELECT model, version FROM version_samples WHERE digest = ?");
  Statement drop(db_, "DELETE FROM version_samples WHERE digest = ?");
  for (const data::Digest& sample : samples) {
    std::set<Version> of_sample;
    direct.bind(sample.bytes);
    while (direct.step()) {
      const Version first(direct.text(0), direct.integer(1));
      const auto [line, is_new] = lines.try_emplace(first);
      if (is_new) line->second = descendants(first);
      of_sample.insert(line->second.begin(), line->second.end());
    }
    direct.reset();
    for (const Version& version : of_sample) ++learned[version];
    if (!of_sample.empty()) drop.bind(sample.bytes).run();
  }
  std::vector<Version> versions;
  Statement mark(db_,
                 "UPDATE versions SET forgotten = forgotten + ? WHERE model = ? AND version = ?");
  for (const auto& [version, count] : learned) {
    mark.bind(count).bind(std::string_view(version.first)).bind(version.second).run();
    versions.push_back(version);
  }
  return versions;
}

// With the version itself.
std::vector<VersionSamples::Version> VersionSamples::descendants(const Version& version) const {
  Statement line(db_, std::string(kDescendants) + "SELECT version FROM line");
  line.bind(std::string_view(version.first)).bind(version.second);
  std::vector<Version> found;
  while (line.step()) found.emplace_back(version.first, line.integer(0));
  return found;
}

void VersionSamples::hand_down(const Version& version) {
  for (const char* sql :
       {"INSERT OR IGNORE INTO version_samples SELECT s.model, v.version, digest "
        "FROM version_samples s JOIN versions v ON v.model = s.model AND v.parent = s.version "
        "WHERE s.model = ?1 AND s.version = ?2",
        "UPDATE versions SET parent = (SELECT parent FROM versions WHERE model = ?1 AND "
        "version = ?2) WHERE model = ?1 AND parent = ?2"}) {
    Statement(db_, sql).bind(std::string_view(version.first)).bind(version.second).run();
  }
}

}  // namespace moil::daemon
