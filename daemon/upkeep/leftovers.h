// Files in the state folder that nothing needs: folders of versions and jobs that are no more,
// versions that were never finished, files written aside by what was killed.
//
// What to keep is told as it was at one moment; whatever was begun later is left alone by its
// number, and a file on its way as long as the process runs that its name tells. Finding takes
// time: whoever then removes something asks again, on the thread that begins jobs and versions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/spec/state_layout.h"

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
  enum class Of { kVersion, kJob, kNothing } of = Of::kNothing;
  std::string model;  // of a version
};

// What else is in the folders. Runs on the background thread.
[[nodiscard]] std::vector<Leftover> find_leftovers(const StateLayout& layout, const Kept& kept);

// By a later account: what was told by its name may be of use again.
[[nodiscard]] bool is_needed(const Leftover& left, const Kept& kept);

}  // namespace moil::daemon
