// Which samples of the label store each model version learned from, so that one who forgets a
// sample can be told where it lives on.
//
// A version knows what its ancestors learned; a sample is noted once, with the first version of a
// line. Only the number of samples that are forgotten stays (versions.forgotten). Loop thread
// only; the caller has a write transaction open.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/state/schema.h"
#include "datasets/identity/digest.h"

namespace moil::daemon {

class VersionSamples {
 public:
  using Version = std::pair<std::string, std::int64_t>;  // model and number

  explicit VersionSamples(Database& database) : db_(database) {}

  void record(const Version& version, std::span<const data::Digest> samples);
  // The versions that learned from any of them, themselves or by their ancestors.
  std::vector<Version> forget(std::span<const data::Digest> samples);
  // The version is about to be removed: what it learned is its children's from now on, and they are
  // its parent's.
  void hand_down(const Version& version);

 private:
  std::vector<Version> descendants(const Version& version) const;
  Database& db_;
};

}  // namespace moil::daemon
