// Which files commands take of what they are given: those that are added, or looked at.
//
// What is named is taken. A folder stands for the files in it and in the folders below, in the
// order of their names (datasets/labels/folder_walk.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/unique_fd.h"
#include "daemon/ctl/console.h"

namespace moil::daemon::ctl {

struct SampleFiles {
  struct PassedOver {
    std::filesystem::path file;
    std::string why;
    bool is_service = false;  // hidden, or a system's own: nobody misses it
  };
  std::vector<std::filesystem::path> files;
  std::vector<PassedOver> passed_over;
};

// By its first bytes; kUnknownMedia for one that is not open, or cannot be read.
[[nodiscard]] std::string_view media_type_of(const UniqueFd& file);

// Throws moil::Error for a folder that cannot be read.
[[nodiscard]] SampleFiles gather_samples(const std::vector<std::string>& given);
// What folders held beside samples.
void tell_passed_over(Console& console, const SampleFiles& found);

}  // namespace moil::daemon::ctl
