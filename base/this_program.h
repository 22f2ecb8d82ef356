// Where the running program lies. Safe from any thread.
#pragma once

#include <filesystem>

namespace moil {

// Its file, links followed. Throws std::filesystem::filesystem_error if /proc is not there.
[[nodiscard]] inline std::filesystem::path this_program() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

}  // namespace moil
