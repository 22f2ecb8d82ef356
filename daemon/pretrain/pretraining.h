// The cloud phase: a global model trained with the engine that devices have, from scratch, or from
// a model that is there, of which the last layers alone may learn.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "daemon/models/model_folder.h"
#include "daemon/night/maps/feature_source.h"
#include "daemon/pretrain/kind_of_data.h"
#include "daemon/pretrain/number_labels.h"
#include "datasets/samples/dataset.h"
#include "engine/train/task.h"
#include "engine/train/trainer.h"

namespace moil::pretrain {

struct PretrainingOptions {
  // A network's description (docs/model-format.md), or a model; its classifier is resized, and
  // fresh if its labels were others, and its tables get rows for ids and characters that it does
  // not know. If both are empty: usual_network().
  std::filesystem::path model;
  std::optional<night::ModelBundle> from;
  std::optional<int> trainable_layers;  // LF(n), of `from`; empty: all
  TrainerConfig trainer;
  // Groups of classes whose accuracy is told apart: "global" -> {"0", "1"}.
  std::map<std::string, std::vector<std::string>> groups;
  bool evaluate_every_epoch = true;
  std::string task = "classify";                  // or "tag", "predict"
  std::vector<std::string> outputs;               // of "predict": what the numbers are called
  NumberLoss number_loss = NumberLoss::kSquares;  // of "predict"
  KindOptions kind;
  night::Augmentation augmentation{.views = 0};  // of training samples; 0: as its kind has usually
  // The user named the classes: one alone may be meant, which others join on the device.
  bool may_be_one_class = false;
};

struct EpochReport {
  std::int64_t epoch = 0, epochs = 0;
  double loss = 0, seconds = 0;  // of training alone, evaluation not counted
  // The task's headline, of all held-out samples; empty if there are none, or none were asked.
  std::optional<double> quality;
  Metric metric;
};

// What is told meanwhile; either may be empty.
struct PretrainingEvents {
  std::function<void(const EpochReport&)> on_epoch;
  // Feature maps of frozen layers, before the first epoch.
  std::function<void(std::int64_t done, std::int64_t all)> on_features;
};

struct PretrainingResult {
  night::ModelBundle bundle;
  std::optional<double> quality;  // the headline of the last epoch
  // task, metric, scores, classes, groups, curve, seconds, samples; and the headline by its name:
  // "accuracy" (null if there is nothing held out)
  nlohmann::json report;
  std::string remark;  // on what the headline does not tell; empty: nothing
};

// Everything that would be refused once the training is done, so that it is refused before: the
// folder `out`, which gets model/ and pack/, the classes' names, groups of other classes, a class
// that is alone, labels that the task cannot learn. kInvalidArgument, kAlreadyExists, kIo.
void check_pretraining(const data::SampleDataset& dataset, const PretrainingOptions& options,
                       const std::filesystem::path& out);

// For "tag", a class of the dataset is a list of labels (split_labels.h). Feature maps of
// frozen layers lie in a folder in `out` meanwhile. Throws what its parts throw.
[[nodiscard]] PretrainingResult pretrain(const data::SampleDataset& dataset,
                                         PretrainingOptions options,
                                         const std::filesystem::path& out,
                                         const PretrainingEvents& events);

// Writes a pack of feature maps of the model's backbone below LF(trainable_layers), from a pack of
// images. Leaves out images that cannot be read, and returns lines about them for people. kBadData
// if none can be read.
[[nodiscard]] std::vector<std::string> write_features(const std::filesystem::path& model,
                                                      const std::filesystem::path& pack,
                                                      int trainable_layers,
                                                      const std::filesystem::path& out);

}  // namespace moil::pretrain
