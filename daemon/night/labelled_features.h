// The features of samples in the label store, as a model's classifier reads them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/night/feature_source.h"
#include "daemon/night/model_folder.h"
#include "daemon/state_layout.h"
#include "daemon/worker_protocol.h"
#include "datasets/labels/label_store.h"
#include "datasets/readers/label_dataset.h"
#include "datasets/sampling/mix.h"
#include "engine/graph/surgery.h"

namespace moil::night {

struct UnreadSample {
  std::size_t sample = 0;
  std::string why;
};

// Of a sample's first part.
struct FeatureRows {
  std::vector<data::MixedSample> mixed;  // of the samples, in their order; labels are theirs
  std::vector<float> rows;               // [samples x input.width]
  std::vector<UnreadSample> unreadable;  // whose rows are of no meaning

  bool is_readable(std::size_t sample) const;
};

// The model of a job file, and the label store beside it. kInvalidArgument where the classifier has
// no rows of features (classifier_input()).
struct StudiedModel {
  StudiedModel(const daemon::StateLayout& layout, const daemon::JobFile& file);

  // From the cache; what is not there is computed, and not kept.
  [[nodiscard]] FeatureRows features(const data::SampleDataset& samples) const;
  // Of one row: the model's probabilities of its labels, calibrated where it has a calibration.
  [[nodiscard]] std::vector<float> chances(std::span<const float> row) const;

  const daemon::StateLayout& layout;
  const daemon::JobFile& file;
  StoredModel model;
  data::LabelStore store;
  ClassifierInput input;
  std::vector<float> weights, bias;  // of the classifier
};

}  // namespace moil::night
