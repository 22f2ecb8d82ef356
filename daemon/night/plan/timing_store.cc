#include "daemon/night/plan/timing_store.h"

#include <chrono>

#include "base/error.h"
#include "base/seconds.h"
#include "engine/elastic/elastic_record.h"
#include "engine/elastic/timing_profiler.h"
#include "engine/io/fingerprint.h"
#include "featurecache/cache.h"

namespace moil::night {
namespace {

std::string file_name(const ModelDescription& head, const std::set<std::string>& layers,
                      const TrainerConfig& config, int threads) {
  nlohmann::json key = {{"layers", layers},
                        {"batch", micro_batch_of(config)},
                        {"optimizer", to_string(config.optimizer.kind)},
                        {"momentum", config.optimizer.momentum > 0},
                        {"clips", config.clip_norm > 0},
                        {"threads", threads}};
  return cache::to_hex(cache::model_id(model_fingerprint(head), key.dump())) + ".json";
}

}  // namespace

TimingStore::TimingStore(std::filesystem::path folder, const ModelDescription& head,
                         const std::set<std::string>& trainable_layers, const TrainerConfig& config,
                         int threads)
    : file_(std::move(folder) / file_name(head, trainable_layers, config, threads)) {}

std::optional<ProfileInForce> TimingStore::load() const {
  const auto json = file_.load();
  if (!json || !json->contains("profile")) return std::nullopt;
  try {
    const ProfileInForce kept = profile_of(json->at("profile"));
    return ProfileInForce{kept.profile, 0, "stored"};
  } catch (const Error&) {
    return std::nullopt;
  }
}

void TimingStore::save(const ProfileInForce& profile) const {
  file_.save({{"profile", record_of(profile)}});
}

ProfileInForce timing_profile(const TimingStore& store, const NightModel& night) {
  if (auto known = store.load()) return std::move(*known);
  const auto start = std::chrono::steady_clock::now();
  ProfileInForce measured;
  measured.profile =
      measure_timing(night.head, &night.freeze.trainable_layers, night.trainer->config(),
                     night.bundle.weights.of(night.head), *night.trainer_kernels);
  measured.seconds = seconds_since(start);
  store.save(measured);
  return measured;
}

}  // namespace moil::night
