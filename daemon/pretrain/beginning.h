// What a pretraining begins with: a network from its description, with fresh weights, or a model
// that is there, with a classifier for the classes of the data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "daemon/models/model_folder.h"
#include "daemon/night/maps/backbone.h"
#include "daemon/night/maps/feature_source.h"
#include "datasets/samples/dataset.h"
#include "featurecache/cache.h"

namespace moil::pretrain {

// Gives the model the labels and the task, and a classifier with a row for each label, fresh if
// its labels were others; a model of numbers may end in anything that gives as many. The other
// weights stay. kInvalidArgument if it has no classifier to change.
void give_labels(night::ModelBundle& model, std::vector<std::string> labels, TaskPtr task,
                 std::uint64_t seed);

// Feature maps of the frozen layers of a pretraining, in a folder that lives as long as this.
class PretrainingCache {
 public:
  // The folder must not exist.
  PretrainingCache(std::filesystem::path folder, night::Backbone& backbone, const data::Kind& kind);
  ~PretrainingCache();
  PretrainingCache(const PretrainingCache&) = delete;
  PretrainingCache& operator=(const PretrainingCache&) = delete;

  cache::FeatureCache& cache() { return *cache_; }
  const cache::ModelId& model() const { return model_; }

 private:
  const std::filesystem::path folder_;
  cache::ModelId model_;
  std::unique_ptr<cache::FeatureCache> cache_;
};

}  // namespace moil::pretrain
