// Which samples each epoch of a night shows: all of them, shuffled, or drawn by importance.
//
// Not thread-safe; used by the thread that trains.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "daemon/night/maps/feature_source.h"
#include "daemon/spec/job_spec.h"
#include "datasets/sampling/importance.h"
#include "engine/train/trainer.h"

namespace moil::night {

class EpochSampling {
 public:
  EpochSampling(daemon::Sampling sampling, std::size_t samples, std::uint64_t seed);

  // Orders the epochs of `source`, and weighs its samples, for a trainer that is given `callbacks`.
  // All of them outlive the training; by importance, its loss is weighted.
  void direct(FeatureSource& source, Trainer::Callbacks& callbacks);

  // What a resumed night needs, beside what else a checkpoint holds.
  void save(nlohmann::json& beside) const;
  void restore(const nlohmann::json& beside);

 private:
  std::size_t samples_;
  std::uint64_t seed_;
  std::optional<data::ImportanceSampler> importance_;
};

}  // namespace moil::night
