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
#include "engine/train/task.h"
#include "engine/train/trainer.h"

namespace moil::pretrain {

struct PretrainingOptions {
  std::filesystem::path model;  // its description (docs/model-format.md); the classifier is resized
  TrainerConfig trainer;
  // Groups of classes whose accuracy is told apart: "global" -> {"0", "1"}.
  std::map<std::string, std::vector<std::string>> groups;
  bool evaluate_every_epoch = true;
  std::string task = "classify";     // or "tag", "predict"
  std::vector<std::string> outputs;  // of "predict": what the numbers are called
  std::int64_t hop = 0;              // of recordings that are seen in windows (rows_kind.h)
  // The user named the classes: one alone may be meant, which others join on the device.
  bool may_be_one_class = false;
};

struct EpochReport {
  std::int64_t epoch = 0, epochs = 0;
  double loss = 0, seconds = 0;  // of training alone, evaluation not counted
  // The task's headline, of all held-out samples; empty where there are none, or none were asked.
  std::optional<double> quality;
  Metric metric;
};

struct PretrainingResult {
  night::ModelBundle bundle;
  std::optional<double> quality;  // the headline of the last epoch
  // task, metric, scores, groups, curve, seconds, samples; and the headline by its name: "accuracy"
  // (null where there is nothing held out)
  nlohmann::json report;
};

// Everything that would be refused once the training is done, so that it is refused before: the
// folder `out`, which gets model/ and pack/, the classes' names, groups of other classes, a class
// that is alone, labels that the task cannot learn. kInvalidArgument, kAlreadyExists, kIo.
void check_pretraining(const data::SampleDataset& dataset, const PretrainingOptions& options,
                       const std::filesystem::path& out);

// Of "tag", a class of the dataset is a list of labels (split_labels.h). `report` is told each
// epoch. Throws what its parts throw.
[[nodiscard]] PretrainingResult pretrain(const data::SampleDataset& dataset,
                                         const PretrainingOptions& options,
                                         const std::function<void(const EpochReport&)>& report);

// Writes a pack of feature maps of the model's backbone below LF(trainable_layers), from a pack of
// images.
void write_features(const std::filesystem::path& model, const std::filesystem::path& pack,
                    int trainable_layers, const std::filesystem::path& out);

}  // namespace moil::pretrain
