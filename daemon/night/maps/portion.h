// Samples, and what of them is asked of feature maps: what training will show, and nothing that no
// epoch shows, for a recording has far more parts and views than a night has epochs.
#pragma once

#include <cstdint>
#include <span>

#include "daemon/spec/job_spec.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

struct Portion {
  std::span<const data::MixedSample> samples;
  // The faces that so many epochs show of each sample (FeatureSource::order()).
  std::int64_t epochs = 0;
  // All of its shown parts in the plain view.
  bool plain = true;
  // Silence beside the user's samples, whatever the epochs show.
  bool silence = false;
};

// What a job's training samples show. plain: they are also asked as they are, by imprinting or by a
// task that chooses by them.
[[nodiscard]] inline Portion trained_portion(const data::Mix& mix, const daemon::JobSpec& spec,
                                             bool plain) {
  return {mix.train, spec.train.epochs, plain, plain};
}

}  // namespace moil::night
