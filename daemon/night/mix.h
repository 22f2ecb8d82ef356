// D_M = D_L u SamplePerClass(D_G, alpha): which samples a night works with, and as which classes.
//
// Drawn once a job and kept in its folder (MoIL, chapter 4.1): a resumed job trains on the same
// samples, whatever was labelled meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/readers/dataset.h"

namespace moil::night {

enum class Origin : std::uint8_t { kGlobal, kLocal };

struct Sample {
  Origin origin = Origin::kGlobal;
  std::size_t index = 0;  // in the dataset of its origin
  data::Digest digest;
  std::vector<std::uint32_t> classes;  // of the grown model; several share the target evenly
};

struct Mix {
  std::vector<std::string> classes;  // the model's, then the new ones sorted by name
  std::vector<Sample> train;         // the global draw, then the local samples
  std::vector<Sample> global_validation, local_validation;
  std::size_t global_count = 0;  // of train
};

struct MixRequest {
  double alpha = 0;
  std::optional<std::size_t> global_limit;
  std::optional<std::vector<std::string>> local_labels;  // empty: all
  std::uint64_t seed = 1;
};

// Local label -> global labels (Table 5.1); a label without entry stands for itself.
using Reconciliation = std::map<std::string, std::vector<std::string>>;

// kInvalidArgument where the global data has a class that the model does not know, or there is
// nothing to train on.
[[nodiscard]] Mix draw_mix(const data::Dataset& global, const data::Dataset& local,
                           const std::vector<std::string>& model_labels,
                           const Reconciliation& reconciliation, const MixRequest& request);

[[nodiscard]] nlohmann::json to_json(const Mix& mix);
// Finds the samples again by their digests; those forgotten since are left out, and counted.
// Throws kBadData for a damaged record.
[[nodiscard]] Mix mix_from_json(const nlohmann::json& json, const data::Dataset& global,
                                const data::Dataset& local, std::size_t& lost);

}  // namespace moil::night
