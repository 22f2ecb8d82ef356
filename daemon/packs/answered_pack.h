// Packs whose labels are the model's own answers: where there is no labelled data.
//
// They hold what the classifier reads, as packs of feature maps for LF(1) do, so that there may be
// features of samples and features that the classifier's rows describe (described_features.h) in
// one pack. Described ones reach every output; how many real samples reach is told beside.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "daemon/night/data/sample_view.h"
#include "datasets/samples/dataset.h"

namespace moil::packs {

struct AnsweredPack {
  std::size_t outputs = 0;             // of the model
  std::size_t described = 0;           // features, held-out ones among them
  std::size_t samples = 0, parts = 0;  // that were read, and their features
  std::size_t reached = 0;             // outputs that are the answer to some real sample
};

// Features that the model's classifier describes, for every output. kUnimplemented for a model
// whose outputs are no labels, or whose classifier is no product of rows and features.
AnsweredPack write_described_pack(const std::filesystem::path& model,
                                  const std::filesystem::path& out);

// The same, and the samples of the dataset; its labels are not looked at. Samples that cannot be
// read are left out and noted. progress: samples. kInvalidArgument if none can be read.
AnsweredPack write_unlabelled_pack(
    const std::filesystem::path& model, const data::SampleDataset& samples,
    const std::filesystem::path& out, std::vector<night::UnreadableSample>& unreadable,
    const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace moil::packs
