// Placements of networks on processors, kept across nights: the same network on the same device is
// measured once, and its feature maps keep their bits.
//
// One thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/json/json.h"
#include "daemon/night/data/build_record.h"
#include "engine/run/network.h"
#include "engine/train/optimizer.h"

namespace moil::night {

// What a placement is of.
struct PlacementKey {
  const ModelDescription& model;  // prepared
  const NetworkOptions& options;
  const OptimizerConfig& optimizer;
  std::string asked;   // ProcessorUse
  std::string device;  // Processor::device()
};

class PlacementStore {
 public:
  PlacementStore(std::filesystem::path file, const PlacementKey& key);

  // Nothing if it is not known, or another build's.
  [[nodiscard]] std::optional<nlohmann::json> load() const;
  // Replaces the file atomically.
  void save(const nlohmann::json& record) const;

 private:
  BuildRecord file_;
  std::string key_;
};

}  // namespace moil::night
