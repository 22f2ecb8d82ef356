// Training a night's head: the same tensors throughout, or chosen anew every few epochs.
//
// Both keep all that a resumed night needs in one checkpoint. Not thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "base/json/json.h"
#include "daemon/models/model_weights.h"
#include "engine/elastic/elastic_trainer.h"
#include "engine/train/checkpoint.h"

namespace moil::night {

class HeadTraining {
 public:
  virtual ~HeadTraining() = default;

  // Takes memory, brings the weights, and goes on from the checkpoint if there is one: gives
  // what was saved beside it.
  virtual std::optional<nlohmann::json> begin(const ModelWeights& weights,
                                              const std::filesystem::path& checkpoint) = 0;
  // As Trainer::run().
  virtual bool run(BatchSource& source, const Trainer::Callbacks& callbacks) = 0;
  // `beside`: an object.
  virtual void save_checkpoint(const std::filesystem::path& checkpoint, nlohmann::json beside) = 0;
  virtual const TrainState& state() const = 0;
  // One of the head's, as it is now.
  [[nodiscard]] virtual NamedTensor weight(const std::string& name) const = 0;
  // Training is over: keeps no memory but that of the weights.
  virtual void end() = 0;
  // Nor theirs. What follows can still be asked.
  virtual void release() = 0;

  // All training so far, choosing what to train included.
  virtual double seconds() const = 0;
  // The pool that is needed, the largest if there are several, and what is beside it.
  virtual std::size_t planned_bytes() const = 0;
  // What a report shows of the choices; null if there were none.
  virtual nlohmann::json choices() const = 0;
};

// The trainer outlives it. begun: if there is no checkpoint yet, another training's of the same
// head, whose weights and optimizer state it begins with; empty: none.
[[nodiscard]] std::unique_ptr<HeadTraining> plain_training(Trainer& trainer,
                                                           const std::filesystem::path& begun = {});

struct ElasticPlan {
  const ModelDescription& head;
  const std::set<std::string>& trainable_layers;
  TrainerConfig config;
  ElasticConfig elastic;
  ProfileInForce profile;  // if there is no checkpoint yet
  ImportanceProbe& probe;
  std::size_t full_planned_bytes = 0;
};
// head, layers, probe and kernels outlive it.
[[nodiscard]] std::unique_ptr<HeadTraining> elastic_training(ElasticPlan plan,
                                                             KernelSelector& kernels);

}  // namespace moil::night
