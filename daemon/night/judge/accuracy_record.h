// Global accuracies of a model's versions, kept so that the anchor (guard.h) need not be judged
// again every night.
//
// A figure counts for the samples that it was measured on alone: it is kept with their fingerprint,
// and a night with other held-out samples finds none. Figures of the eight sets that were used last
// are kept, in profiles/accuracy/NAME.json (build_record.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "daemon/night/data/build_record.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

// Tells the samples, their order and their classes' names.
[[nodiscard]] std::string held_out_fingerprint(const data::Mix& mix);

class AccuracyRecord {
 public:
  // held_out: the fingerprint of the set that all figures here are of.
  AccuracyRecord(std::filesystem::path file, std::string held_out)
      : file_(std::move(file)), held_out_(std::move(held_out)) {}

  [[nodiscard]] std::optional<double> of(std::int64_t version) const;
  void keep(std::int64_t version, double accuracy) const;

 private:
  BuildRecord file_;
  std::string held_out_;
};

}  // namespace moil::night
