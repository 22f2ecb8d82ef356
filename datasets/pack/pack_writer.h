// What the writers of both kinds share: the folder, the shards' names, and the manifest as the last
// step, so that a folder without pack.json is no pack but a torso.
#pragma once

#include <filesystem>
#include <string>

#include "datasets/pack/manifest.h"

namespace moil::data {

struct PackOptions {
  std::uint64_t shard_bytes = 256 << 20;  // a shard is closed once it holds as much
  char label_separator = 0;               // PackManifest::label_separator
  PackTargets targets = PackTargets::kLabels;
};

// kAlreadyExists if the folder is there and not empty.
void check_pack_folder(const std::filesystem::path& folder);

class PackWriter {
 public:
  // Creates the folder; kAlreadyExists if it is there and not empty.
  PackWriter(std::filesystem::path folder, PackManifest manifest, PackOptions options);

  [[nodiscard]] const PackManifest& manifest() const { return manifest_; }
  [[nodiscard]] const PackOptions& options() const { return options_; }

  // The path of the split's next shard, "train-00000.tar".
  [[nodiscard]] std::filesystem::path next_shard(Split split, const char* extension) const;
  // After the file is written: fsyncs it and notes size and checksum.
  void close_shard(const std::filesystem::path& file, Split split, std::uint64_t samples,
                   bool described = false);
  void set_reached(std::uint64_t reached) { manifest_.reached = reached; }
  void finish();

 private:
  std::filesystem::path folder_;
  PackManifest manifest_;
  PackOptions options_;
};

}  // namespace moil::data
