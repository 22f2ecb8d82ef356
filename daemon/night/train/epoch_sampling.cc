#include "daemon/night/train/epoch_sampling.h"

#include "base/json/json.h"
#include "datasets/sampling/per_class.h"

namespace moil::night {

EpochSampling::EpochSampling(daemon::Sampling sampling, std::size_t samples, std::uint64_t seed)
    : samples_(samples), seed_(seed) {
  if (sampling == daemon::Sampling::kImportance) importance_.emplace(samples, seed);
}

void EpochSampling::direct(FeatureSource& source, Trainer::Callbacks& callbacks) {
  callbacks.order = [this, &source](std::int64_t epoch) {
    return source.order(importance_
                            ? importance_->epoch(epoch)
                            : data::epoch_order(samples_, seed_, static_cast<std::uint64_t>(epoch)),
                        epoch);
  };
  if (!importance_) return;
  source.weigh(importance_->weights());
  callbacks.on_bounds = [this](auto indices, auto bounds) {
    for (std::size_t i = 0; i < indices.size(); ++i)
      importance_->see(static_cast<std::size_t>(indices[i]) % samples_, bounds[i]);
  };
}

void EpochSampling::save(nlohmann::json& beside) const {
  if (importance_) beside["importance"] = importance_->state();
}

void EpochSampling::restore(const nlohmann::json& beside) {
  if (importance_) importance_->restore(beside.at("importance"));
}

}  // namespace moil::night
