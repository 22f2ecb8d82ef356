#include "base/gpu_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/scratch_folder.h"

namespace moil {
namespace {

namespace fs = std::filesystem;

TEST(GpuNodes, AreThoseOfGpusAlone) {
  const test::ScratchFolder folder;
  const fs::path dev = folder.path();
  EXPECT_TRUE(gpu_nodes(dev).empty());
  fs::create_directories(dev / "dri" / "by-path");
  fs::create_directory(dev / "nvidia-caps");
  for (const char* node : {"dri/card0", "dri/renderD128", "mali0", "null", "sda", "nvidiactl"})
    std::ofstream(dev / node) << "";
  EXPECT_THAT(gpu_nodes(dev),
              ::testing::ElementsAre(dev / "dri/renderD128", dev / "mali0", dev / "nvidiactl"));
}

}  // namespace
}  // namespace moil
