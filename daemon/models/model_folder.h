// A model as a folder: what an import brings, the model store keeps and a night starts from.
//
//   model.json           layers (docs/model-format.md)
//   weights.safetensors  every weight and statistic
//   labels.json          ["banana", ...]: the name of each output
//   task.json            what the outputs are for (engine/train/task.h); a classifier has none
//   preprocessing.json   what its samples are and what is done to them first
//   (datasets/kinds/kind.h)
//   calibration.json     what its probabilities mean (calibration.h); may be missing
//   listening.json       from which probability labels are told of a sound that is listened to
//   (listening_levels.h); none if it is missing
//   imprinted.json       ["our cat", ...]: labels whose rows were imprinted and not trained since
//   (imprint.h); none if it is missing
//   imprintable.json     those whose rows were imprinted while nothing below the classifier was
//   trained since: made anew, they owe nothing to samples that they learned before
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "daemon/models/calibration.h"
#include "daemon/models/listening_levels.h"
#include "daemon/models/model_weights.h"
#include "datasets/kinds/kind.h"
#include "engine/model/model_description.h"
#include "engine/train/tasks/classify.h"

namespace moil::night {

struct ModelBundle {
  ModelDescription description;
  WeightMap weights;
  std::vector<std::string> labels;
  data::KindPtr kind;
  TaskPtr task = classify_task();
  std::optional<Calibration> calibration;
  ListeningLevels listening = {};                   // of some labels
  std::vector<std::string> imprinted, imprintable;  // of the labels
};

// One whose weights stay in their file until they are asked for.
struct StoredModel {
  ModelDescription description;
  ModelWeights weights;
  std::vector<std::string> labels;
  data::KindPtr kind;
  TaskPtr task = classify_task();
  std::optional<Calibration> calibration;
  ListeningLevels listening = {};
  std::vector<std::string> imprinted, imprintable;
};

// The model outlives it.
[[nodiscard]] inline WeightsOfPart weights_of(const StoredModel& model) {
  return [&model](const ModelDescription& part) { return model.weights.of(part); };
}

// Reads and checks that they fit each other and that all weights are finite; a batch norm
// behind the classifier is folded into it. kNotFound, kBadData, kInvalidArgument or kUnimplemented
// naming the file and what does not fit.
[[nodiscard]] ModelBundle read_model_folder(const std::filesystem::path& folder);
// One that was read and written before: without the weights' data.
[[nodiscard]] StoredModel open_model_folder(const std::filesystem::path& folder);

// How many outputs of a complete model have names in labels.json: as many as there are labels or
// numbers, or none of a model of sequences.
[[nodiscard]] std::int64_t named_outputs(const ModelDescription& model, const Task& task);

// What is to be said of a model's training when it is imported, "; ..."; empty: nothing.
[[nodiscard]] std::string training_remark(const ModelDescription& model, const Task& task);

// Writes the folder, which must not exist, and makes it durable; the caller renames it into place.
void write_model_folder(const std::filesystem::path& folder, const ModelBundle& bundle);
// The same of weights that are asked for one after the other, those that the model has.
void write_model_folder(const std::filesystem::path& folder, const StoredModel& model,
                        const std::function<NamedTensor(const std::string& weight)>& read);

// Beside what a model's folder has already; durable.
void write_task(const std::filesystem::path& folder, const Task& task);
void write_calibration(const std::filesystem::path& folder, const Calibration& calibration);
void write_listening(const std::filesystem::path& folder, const ListeningLevels& levels);

// What the weights take in memory.
[[nodiscard]] std::size_t weight_bytes(const WeightMap& weights);

}  // namespace moil::night
