// A global pack of the kind `images`: tar shards in the SampleFolder layout <class>/<file>.
#pragma once

#include <filesystem>
#include <memory>

#include "datasets/pack/pack_writer.h"
#include "datasets/samples/dataset.h"

namespace moil::data {

// Writes every sample of the dataset under its split, files as they are (PNG if the source has
// none). The same dataset gives the same bytes. Samples have one label, and class names can name
// folders; else kInvalidArgument. kAlreadyExists if the folder is not empty.
void write_sample_pack(const std::filesystem::path& folder, const SampleDataset& dataset,
                       KindPtr kind, const PackOptions& options = {});

// What write_sample_pack would refuse, before any work is done for it: class names, which are also
// UTF-8; samples with several labels; the folder.
void check_sample_pack(const std::filesystem::path& folder, const SampleDataset& dataset);

class SamplePack : public SampleDataset {
 public:
  [[nodiscard]] virtual const PackManifest& manifest() const = 0;
};

// If a class of the pack is several labels, they are the dataset's classes. Checks the pack
// whole, checksums included. kFailedPrecondition if it is of the other kind.
[[nodiscard]] std::unique_ptr<SamplePack> open_sample_pack(const std::filesystem::path& folder);

}  // namespace moil::data
