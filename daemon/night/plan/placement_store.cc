#include "daemon/night/plan/placement_store.h"

#include "engine/io/fingerprint.h"
#include "engine/kernels/parallel.h"
#include "featurecache/key.h"

namespace moil::night {
namespace {

// A device has a few networks.
constexpr std::size_t kMost = 256;

std::string text_of(const PlacementKey& key) {
  const OptimizerConfig& optimizer = key.optimizer;
  const PlanOptions& plan = key.options.plan;
  const Json json = {{"asked", key.asked},
                     {"device", key.device},
                     {"batch", key.options.batch},
                     {"training", plan.training},
                     {"trainable", plan.trainable},
                     {"clips", plan.clip_by_global_norm},
                     {"accumulates", plan.micro_batches > 1},
                     {"swap", to_string(plan.swap.mode)},
                     {"optimizer", to_string(optimizer.kind)},
                     {"momentum", optimizer.momentum > 0},
                     {"threads", thread_count()}};
  return cache::to_hex(cache::model_id(model_fingerprint(key.model), json.dump()));
}

}  // namespace

PlacementStore::PlacementStore(std::filesystem::path file, const PlacementKey& key)
    : file_(std::move(file)), key_(text_of(key)) {}

std::optional<Json> PlacementStore::load() const {
  Json placement = file_.find(key_);
  if (!placement.contains("method")) return std::nullopt;
  return placement;
}

void PlacementStore::save(const Json& record) const { file_.keep(key_, record, kMost); }

}  // namespace moil::night
