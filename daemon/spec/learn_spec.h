// The job that model.learn submits: rows of new labels by day, without a night (docs/protocol.md).
//
// Pure; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/spec/job_spec.h"

namespace moil::daemon {

// A job of the model, as the pattern: its pack and how much of it, its frozen layers, its cache,
// its arithmetic and how far global accuracy may fall. So its feature maps are those that are
// there.
struct LearnPattern {
  JobSpec spec;
  // Layers that it really trained, of how many; empty: not known.
  std::optional<int> trained_units, units;
};

struct LearnRequest {
  std::string model;
  std::optional<std::vector<std::string>> labels;  // empty: all that the model does not know
  std::string pack;                                // empty: the pattern's
};

// The most samples of a pack that rows are held against.
inline constexpr std::int64_t kLearnPackSamples = 2000;

// nullopt if neither request nor pattern names a pack.
[[nodiscard]] std::optional<JobSpec> learn_spec(const LearnRequest& request,
                                                const std::optional<LearnPattern>& pattern);

}  // namespace moil::daemon
