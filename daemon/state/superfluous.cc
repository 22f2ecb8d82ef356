#include "daemon/state/superfluous.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace moil::daemon {
namespace {

using Numbers = std::set<std::int64_t>;

// What jobs that go on, or may be made to, began with.
std::map<std::string, Numbers> bases_of_jobs(Database& database, const StateLayout& layout) {
  std::map<std::string, Numbers> bases;
  Statement rows(database,
                 "SELECT id, model, base_version, state FROM jobs WHERE state IN ('queued', "
                 "'running', 'failed') AND base_version IS NOT NULL");
  while (rows.step()) {
    if (rows.text(3) == "failed" && !std::filesystem::exists(layout.job(rows.integer(0)))) continue;
    bases[rows.text(1)].insert(rows.integer(2));
  }
  return bases;
}

// One model's; versions: by number.
Numbers needed(const ModelStore& models, const std::vector<ModelVersion>& versions,
               const Numbers& bases, int newest) {
  Numbers known, begun;  // begun: that a night may begin with
  for (const ModelVersion& v : versions) known.insert(v.version);
  std::ranges::set_intersection(bases, known, std::inserter(begun, begun.end()));
  Numbers kept;
  for (const ModelVersion& v : versions) {
    if (v.pinned) kept.insert(v.version);
    if (!v.active) continue;
    begun.insert(v.version);
    if (v.parent) begun.insert(*v.parent);
  }
  for (const std::int64_t base : begun) {
    kept.insert(base);
    kept.insert(models.anchor(versions.front().model, base).version);
  }
  for (auto v = versions.rbegin(); v != versions.rend() && newest > 0; ++v, --newest)
    kept.insert(v->version);
  return kept;
}

}  // namespace

std::vector<ModelVersion> superfluous_versions(const ModelStore& models, Database& database,
                                               const StateLayout& layout, int newest) {
  std::map<std::string, std::vector<ModelVersion>> by_model;
  for (ModelVersion& v : models.list()) by_model[v.model].push_back(std::move(v));
  const auto bases = bases_of_jobs(database, layout);
  std::vector<ModelVersion> found;
  for (auto& [model, versions] : by_model) {
    const auto of_model = bases.find(model);
    const Numbers kept =
        needed(models, versions, of_model == bases.end() ? Numbers() : of_model->second, newest);
    for (ModelVersion& v : versions)
      if (!kept.contains(v.version)) found.push_back(std::move(v));
  }
  return found;
}

}  // namespace moil::daemon
