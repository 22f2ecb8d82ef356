#include "daemon/state/provenance.h"

#include "base/version.h"

namespace moil::daemon {
namespace {

// What a version depends on in the job's description.
constexpr const char* kSettings[] = {
    "global", "local",  "freeze",           "augment", "train",   "elastic",
    "guard",  "canary", "deadline_seconds", "seed",    "threads", "exact_arithmetic"};

// With what the night chose for itself.
Json settings_of(const JobSpec& spec, const Json& chosen) {
  Json whole = to_json(spec);
  if (chosen.is_object()) whole.merge_patch(chosen.value("fields", Json::object()));
  Json settings = Json::object();
  for (const char* name : kSettings) settings[name] = whole.at(name);
  return settings;
}

}  // namespace

Provenance provenance_of(const Job& job, const Json& result) {
  const Json details = result.value("details", Json::object());
  const auto detail = [&](const char* name) {
    return details.is_object() ? details.value(name, Json()) : Json();
  };
  const Json build = detail("build");
  return {{{"job",
            {{"id", job.id},
             {"name", job.spec.name},
             {"schedule", job.schedule.empty() ? Json(nullptr) : Json(job.schedule)}}},
           {"build", build.is_string() ? build : Json(kVersion)},
           {"weights", detail("weights")},
           {"data", detail("data")},
           {"freeze", detail("freeze")},
           {"settings", settings_of(job.spec, detail("auto"))}},
          detail("labels")};
}

}  // namespace moil::daemon
