#include "base/gpu_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace moil {
namespace {

namespace fs = std::filesystem;

TEST(GpuNodes, AreThoseOfGpusAlone) {
  std::string name = (fs::temp_directory_path() / "moil-dev-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path dev = name;
  EXPECT_TRUE(gpu_nodes(dev).empty());
  fs::create_directories(dev / "dri" / "by-path");
  fs::create_directory(dev / "nvidia-caps");
  for (const char* node : {"dri/card0", "dri/renderD128", "mali0", "null", "sda", "nvidiactl"})
    std::ofstream(dev / node) << "";
  EXPECT_THAT(gpu_nodes(dev),
              ::testing::ElementsAre(dev / "dri/renderD128", dev / "mali0", dev / "nvidiactl"));
  fs::remove_all(dev);
}

}  // namespace
}  // namespace moil
