// The state at one moment, beside the daemon that goes on to change it: copies of its databases,
// and the files that they name, held open. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/json/json.h"
#include "base/sqlite/database.h"
#include "daemon/spec/state_layout.h"

namespace moil::backup {

struct KeptFile {
  std::filesystem::path path;  // below the state folder
  UniqueFd file;               // none, if too many are open already
  std::uint64_t size = 0;
};

struct Snapshot {
  std::vector<KeptFile> files;  // of versions, packs and profiles
  std::uint64_t versions = 0, packs = 0;
};

// Puts moild.db and labels/labels.db into `scratch`, a folder of its own in the state folder. They
// fit each other: what the state says of samples is no newer than the labels.
[[nodiscard]] Snapshot take_snapshot(const daemon::StateLayout& layout,
                                     const std::filesystem::path& scratch);

}  // namespace moil::backup
