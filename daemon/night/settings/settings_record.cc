#include "daemon/night/settings/settings_record.h"

#include "datasets/identity/digest.h"

namespace moil::night {
namespace {

// What is fixed of the job, and what is open.
std::string fingerprint_of(const daemon::JobSpec& job) {
  const Json whole = daemon::to_json(job);
  Json decisive = Json::object();
  for (const char* part : {"global", "local", "freeze", "cache", "augment", "train", "elastic",
                           "guard", "deadline_seconds", "memory", "swap"})
    decisive[part] = whole.at(part);
  return data::digest_of(decisive.dump()).hex();
}

constexpr std::size_t kMostJobs = 16;

bool counts_for(const KnownSettings& known, std::size_t local) {
  if (3 * local < 2 * known.local) return false;
  return known.candidate.layers != 1 || 2 * local <= 3 * known.local;
}

}  // namespace

SettingsRecord::SettingsRecord(std::filesystem::path file, const daemon::JobSpec& job)
    : file_(std::move(file)), job_(fingerprint_of(job)) {}

std::optional<KnownSettings> SettingsRecord::find(std::size_t local) const {
  const Json json = file_.find(job_);
  try {
    const KnownSettings known{candidate_from_json(json.at("candidate")), json.at("local"),
                              json.at("of_version"), json.at("learned")};
    return counts_for(known, local) ? std::optional(known) : std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void SettingsRecord::keep(const KnownSettings& settings) const {
  file_.keep(job_,
             {{"candidate", to_json(settings.candidate)},
              {"local", settings.local},
              {"of_version", settings.version},
              {"learned", settings.learned}},
             kMostJobs);
}

void SettingsRecord::forget() const { file_.forget(job_); }

}  // namespace moil::night
