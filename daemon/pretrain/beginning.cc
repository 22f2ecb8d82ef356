#include "daemon/pretrain/beginning.h"

#include <system_error>

#include "engine/model/initial_weights.h"
#include "engine/model/surgery.h"

namespace moil::pretrain {

void give_labels(night::ModelBundle& model, std::vector<std::string> labels, TaskPtr task,
                 std::uint64_t seed) {
  const auto outputs = static_cast<std::int64_t>(labels.size());
  const bool fits =
      !task->outputs_are_labels() && night::named_outputs(model.description, *task) == outputs;
  std::string fresh;  // layer
  if (model.labels != labels && !fits) {
    fresh = find_classifier(model.description) + ".";
    resize_classifier(model.description, outputs);
  }
  WeightMap weights = initial_weights(build_graph(model.description, 1), seed);
  for (auto& [name, tensor] : model.weights)
    if (fresh.empty() || !name.starts_with(fresh)) weights[name] = std::move(tensor);
  model.weights = std::move(weights);
  model.labels = std::move(labels);
  model.task = std::move(task);
  model.calibration.reset();
  model.listening.clear();
  model.imprinted.clear();
  model.imprintable.clear();
}

PretrainingCache::PretrainingCache(std::filesystem::path folder, night::Backbone& backbone,
                                   const data::Kind& kind)
    : folder_(std::move(folder)),
      model_(cache::model_id(backbone.fingerprint(), kind.fingerprint())) {
  cache_ = std::make_unique<cache::FeatureCache>(folder_);
  cache_->use_model(model_, "pretraining");
}

PretrainingCache::~PretrainingCache() {
  cache_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace moil::pretrain
