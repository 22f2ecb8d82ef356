#include "daemon/ctl/setup/installed_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/scratch_folder.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

class Networks : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "network.json") << text;
  }
  const moil::test::ScratchFolder folder_;
};

TEST_F(Networks, AreReadByName) {
  write("b", R"({"kind": "sound", "title": "B", "licence": "Apache-2.0", "default": true})");
  write("a", R"({"kind": "image"})");
  fs::create_directories(folder_ / "no network");
  const auto found = installed_networks(folder_.path());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].title, "a") << "its name, if it has no title";
  EXPECT_EQ(found[1].name, "b");
  EXPECT_TRUE(found[1].is_default);
  EXPECT_EQ(found[1].folder, folder_ / "b");
}

TEST_F(Networks, AbsentFolderHasNone) { EXPECT_TRUE(installed_networks(folder_ / "no").empty()); }

TEST_F(Networks, WhatIsNoneIsNamed) {
  for (const char* text : {"", "{", "{}", R"({"kind": 1})", R"({"kind": "image", "size": 3})"}) {
    write("broken", text);
    try {
      (void)installed_networks(folder_.path());
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadData) << text;
      EXPECT_THAT(error.what(), ::testing::HasSubstr("broken/network.json")) << text;
    }
  }
}

}  // namespace
}  // namespace moil::daemon::ctl
