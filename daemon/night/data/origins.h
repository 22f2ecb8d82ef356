// The datasets of a night's samples, by where they come from.
#pragma once

#include "datasets/samples/dataset.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

class DecodingRoom;

// Where samples come from. A global pack of feature maps has no files: `global_samples` is null
// and `global_features` is not.
struct Origins {
  const data::SampleDataset* global_samples = nullptr;
  const data::FeatureDataset* global_features = nullptr;
  const data::SampleDataset* local_samples = nullptr;
  DecodingRoom* room = nullptr;  // what decoding may take; null: as much as it takes
};

// The files of the samples of one source; null for a pack of feature maps.
inline const data::SampleDataset* files_of(const Origins& origins, data::Source source) {
  return source == data::Source::kGlobal ? origins.global_samples : origins.local_samples;
}

}  // namespace moil::night
