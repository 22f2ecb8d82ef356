// The cache's folder and files, before LMDB opens them. Throws moil::Error that names the folder.
#pragma once

#include <filesystem>
#include <string>

namespace moil::cache {

// "cannot open the feature cache FOLDER", as errors begin.
[[nodiscard]] std::string opening(const std::filesystem::path& folder);

// Makes the folder (0700; its parent must exist) or takes other users' rights away from what is
// there and ours: folder 0700, data.mdb and lock.mdb 0600.
void prepare_folder(const std::filesystem::path& folder);

// Allocates lock.mdb. LMDB writes it through a shared map; on a full disk a hole would be a SIGBUS.
// Not while this process has the environment open: closing the file would drop LMDB's locks.
void reserve_lock_file(const std::filesystem::path& folder);

}  // namespace moil::cache
