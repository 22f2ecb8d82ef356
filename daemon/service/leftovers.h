// Files in the state folder that nothing needs: folders of versions and jobs that are no more,
// versions that were never finished, files written aside by what was killed.
//
// What to keep is told as it was at one moment; whatever was begun later is left alone by its
// number, and a file on its way as long as the process runs that its name tells. Runs on the
// background thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/state_layout.h"

namespace moil::daemon {

struct Kept {
  struct Folders {
    std::set<std::string> names;
    std::int64_t highest = 0;  // larger numbers are newer than this account
  };
  std::map<std::string, Folders> versions;  // by model
  Folders jobs;
};

struct Leftover {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

// What else is in the folders.
[[nodiscard]] std::vector<Leftover> find_leftovers(const StateLayout& layout, const Kept& kept);

// Says how it went in the log alone: the next time tries again.
void remove_leftover(const std::filesystem::path& path);

}  // namespace moil::daemon
