// What an earlier night of a model chose by trials, so that the next one need not try again: kept
// if the night passed the guard, in profiles/settings/NAME.json.
//
// A record for each of the latest jobs that leave the same fields open and set the others alike. It
// counts as long as the local samples are not two thirds of those of the trials' night, nor half as
// many again if the classifier alone was chosen: layers below it that have learned samples tell
// nothing of these any more. A record is of this build alone (build_record.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "daemon/night/data/build_record.h"
#include "daemon/night/settings/candidate.h"

namespace moil::night {

struct KnownSettings {
  Candidate candidate;
  std::size_t local = 0;  // samples of the night that tried
  // That the latest night made with them, and the local samples that it learned.
  std::int64_t version = 0;
  std::size_t learned = 0;
};

class SettingsRecord {
 public:
  SettingsRecord(std::filesystem::path file, const daemon::JobSpec& job);

  [[nodiscard]] std::optional<KnownSettings> find(std::size_t local) const;
  void keep(const KnownSettings& settings) const;
  // They led to a model that was kept back. Other jobs' stay.
  void forget() const;

 private:
  BuildRecord file_;
  std::string job_;  // what of it decides
};

}  // namespace moil::night
