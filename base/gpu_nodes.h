// Device nodes of GPUs that this device shows to the process: Mesa's render nodes, Arm's Mali,
// Qualcomm's Adreno, Nvidia's.
//
// Linux alone; thread-safe.
#pragma once

#include <filesystem>
#include <vector>

namespace moil {

// Empty if it shows none. dev: for tests.
[[nodiscard]] std::vector<std::filesystem::path> gpu_nodes(
    const std::filesystem::path& dev = "/dev");

}  // namespace moil
