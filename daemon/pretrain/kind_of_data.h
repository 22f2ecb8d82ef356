// What the samples of a dataset are to a model that has seen none of them yet.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "datasets/kinds/kind.h"
#include "datasets/samples/dataset.h"
#include "engine/model/model_description.h"

namespace moil::pretrain {

struct KindOptions {
  // A kind's description (docs/kinds.md). If sounds have neither mean nor std in it, both are found
  // in the data. null: by the model's inputs and the data.
  nlohmann::json preprocessing;
  std::int64_t hop = 0;  // of recordings of numbers that are seen in windows (rows_kind.h)
  std::vector<std::string> ids = {};  // columns that are ids (tables/ids.h); empty: by their names
};

// Without a description: images of the network's size, pixels from -1 to 1; numbers of mean 0 and
// deviation 1; sounds as spectrograms of [1 or 3, frames, bands] with the front end's defaults, of
// mean 0 and deviation 1. Several inputs take a file each, which is called as the input is.
// kInvalidArgument if the model takes none of these, or the description gives something else
// than it takes; kBadData names a sample that cannot be read.
[[nodiscard]] data::KindPtr kind_of_data(const ModelDescription& model,
                                         const data::SampleDataset& dataset,
                                         const KindOptions& options);

// What the samples that train have that the kind does not know, sorted; none of a kind that cannot
// learn it. kBadData names a sample that cannot be read.
[[nodiscard]] std::vector<std::string> unknown_symbols(const data::Kind& kind,
                                                       const data::SampleDataset& dataset);

}  // namespace moil::pretrain
