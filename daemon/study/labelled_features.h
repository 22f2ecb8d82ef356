// The features of samples in the label store, as a model's classifier reads them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/models/model_folder.h"
#include "daemon/models/part_answers.h"
#include "daemon/night/maps/feature_source.h"
#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"
#include "daemon/study/study_maps.h"
#include "datasets/labels/label_store.h"
#include "datasets/readers/label_dataset.h"
#include "datasets/sampling/mix.h"
#include "engine/model/surgery.h"

namespace moil::night {

struct UnreadSample {
  std::size_t sample = 0;
  std::string why;
};

// A row a sample, of all its parts.
struct FeatureRows {
  std::vector<data::MixedSample> mixed;  // of the samples, in their order; labels are theirs
  std::vector<float> rows;               // [samples x input.width], the mean of a sample's parts
  std::vector<UnreadSample> unreadable;  // whose rows are of no meaning, by the samples' order

  bool is_readable(std::size_t sample) const;
};

// The model of a job file, and the label store beside it. kInvalidArgument if the classifier has
// no rows of features (classifier_input()).
struct StudiedModel {
  // progress: told of now and then; layout and file outlive it.
  StudiedModel(const daemon::StateLayout& layout, const daemon::JobFile& file,
               StudyProgress progress = {});

  // A row of every part of every sample, in their order.
  using EachPart = std::function<void(const data::MixedSample& sample, std::uint32_t part,
                                      std::span<const float> row)>;
  // Some more were read, in the samples' order; `bad`: all so far that could not be.
  using SomeRead = std::function<void(const UnreadableSamples& bad)>;
  // By maps from the cache, or computed ones (study_maps.h).
  [[nodiscard]] FeatureRows features(const data::SampleDataset& samples, const EachPart& each = {},
                                     const SomeRead& some_read = {}) const;
  // What the classifier makes of a row.
  [[nodiscard]] std::vector<float> outputs(std::span<const float> row) const;
  // The model's probabilities of its labels by one answer of outputs, calibrated if it has a
  // calibration.
  [[nodiscard]] std::vector<float> chances(std::span<const float> answer) const;
  // Not more often than somebody reads it; nothing of a look that is over at once.
  void tell(daemon::Stage stage, std::int64_t done, std::int64_t total) const;

  const daemon::StateLayout& layout;
  const daemon::JobFile& file;
  StoredModel model;
  data::LabelStore store;
  ClassifierInput input;
  std::vector<float> weights, bias;  // of the classifier

 private:
  const StudyProgress progress_;
  mutable std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

// What the model says of each sample, all of its parts together: the rows of one sample after the
// other go in, its probabilities come out behind its last.
class SaidOfSamples {
 public:
  using Each = std::function<void(std::size_t sample, const std::vector<float>& chances)>;
  SaidOfSamples(const StudiedModel& model, Each each);

  void add(const data::MixedSample& sample, std::uint32_t part, std::span<const float> row);

 private:
  const StudiedModel& model_;
  PartAnswers answers_;
  const Each each_;
};

}  // namespace moil::night
