// The cloud phase: a global model trained from scratch with the engine that devices have.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/night/model_folder.h"
#include "datasets/readers/dataset.h"
#include "engine/train/trainer.h"

namespace moil::pretrain {

struct PretrainingOptions {
  std::filesystem::path model;  // its description (docs/model-format.md); the classifier is resized
  TrainerConfig trainer;
  // Groups of classes whose accuracy is told apart: "global" -> {"0", "1"}.
  std::map<std::string, std::vector<std::string>> groups;
  bool evaluate_every_epoch = true;
};

struct EpochReport {
  std::int64_t epoch = 0, epochs = 0;
  double loss = 0, seconds = 0;  // of training alone, evaluation not counted
  // Of the held-out samples, of all classes; empty where there are none, or none were asked.
  std::optional<double> accuracy;
};

struct PretrainingResult {
  night::ModelBundle bundle;
  // accuracy (null where there is nothing held out), groups, curve, seconds, samples
  nlohmann::json report;
};

// Everything that would be refused once the training is done, so that it is refused before: the
// folder `out`, which gets model/ and pack/, the classes' names, groups of other classes, a class
// that is alone. kInvalidArgument, kAlreadyExists, kIo.
void check_pretraining(const data::SampleDataset& dataset, const PretrainingOptions& options,
                       const std::filesystem::path& out);

// `report` is told each epoch. Throws what its parts throw.
[[nodiscard]] PretrainingResult pretrain(const data::SampleDataset& dataset,
                                         const PretrainingOptions& options,
                                         const std::function<void(const EpochReport&)>& report);

// Writes a pack of feature maps of the model's backbone below LF(trainable_layers), from a pack of
// images.
void write_features(const std::filesystem::path& model, const std::filesystem::path& pack,
                    int trainable_layers, const std::filesystem::path& out);

}  // namespace moil::pretrain
