// Promoted versions that are held against what users label since (upkeep/canary.h), and what was
// found of each label.
//
// A canary ends with its version's service, whatever ended that (ModelStore). Loop thread only;
// every method that changes something is one transaction unless it says that it expects the
// caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/spec/job_spec.h"
#include "daemon/state/schema.h"
#include "datasets/labels/label_types.h"

namespace moil::daemon {

struct Canary {
  std::string model;
  std::int64_t version = 0, parent = 0;
  CanarySpec rule;
  std::int64_t seen = 0;               // the latest change of a sample that was looked at
  std::int64_t worse = 0, better = 0;  // samples that the version alone gets wrong, or right
  std::int64_t neither = 0;            // samples that both get right, or both wrong
  std::int64_t waiting = 0;            // samples that nobody has asked the versions about yet
};

Json to_json(const Canary& canary);

class CanaryStore {
 public:
  enum class Verdict { kWorse, kBetter, kNeither };

  explicit CanaryStore(Database& database) : db_(database) {}

  // newest_change: of samples, when the version was promoted; later ones count. In place of the
  // model's canary before. Expects the caller's transaction.
  void begin(const Canary& canary, std::int64_t newest_change);
  [[nodiscard]] std::vector<Canary> all() const;
  [[nodiscard]] std::optional<Canary> find(const std::string& model) const;
  void end(const std::string& model);

  // Samples that changed, up to the last. New ones, and those that have other labels, wait to be
  // judged, again if they were judged before. So do samples that are called or mapped otherwise, if
  // they count already. Samples without labels count no more.
  void take(const std::string& model, std::span<const data::SampleChange> changes);
  [[nodiscard]] std::vector<data::Digest> waiting(const std::string& model, int limit) const;
  void judge(const std::string& model, std::span<const std::pair<data::Digest, Verdict>> verdicts);

 private:
  Database& db_;
};

}  // namespace moil::daemon
