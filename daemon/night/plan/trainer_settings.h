// The engine's settings of a job's training, as its description has them. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/spec/job_spec.h"
#include "engine/elastic/elastic_trainer.h"
#include "engine/train/trainer.h"

namespace moil::night {

// loss: of the model's task.
[[nodiscard]] TrainerConfig trainer_config(const daemon::JobSpec& spec, std::size_t samples,
                                           LossDescription loss = {});
[[nodiscard]] ElasticConfig elastic_config(const daemon::ElasticSpec& spec);
[[nodiscard]] SwapMode swap_mode_of(daemon::SwapWhen when);
// By swapping; empty: any number of bytes.
[[nodiscard]] std::optional<std::uint64_t> most_written(const daemon::JobSpec& spec);

}  // namespace moil::night
