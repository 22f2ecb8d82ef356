#include "base/gpu_nodes.h"

#include <algorithm>
#include <utility>

namespace moil {

namespace fs = std::filesystem;

std::vector<fs::path> gpu_nodes(const fs::path& dev) {
  std::vector<fs::path> nodes;
  for (const auto& [folder, prefix] : {std::pair{dev / "dri", "renderD"}, std::pair{dev, "mali"},
                                       std::pair{dev, "kgsl"}, std::pair{dev, "nvidia"}}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().filename().native().starts_with(prefix) && !entry.is_directory(ignored))
        nodes.push_back(entry.path());
  }
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace moil
