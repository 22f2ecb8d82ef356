#include "daemon/ctl/setup/installed_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/scratch_folder.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

using ::testing::HasSubstr;

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
      EXPECT_THAT(error.what(), HasSubstr("broken/network.json")) << text;
    }
  }
}

std::vector<InstalledNetwork> shelf() {
  return {{"birds", "/n/birds", "sound", "Birds", "", false},
          {"lite", "/n/lite", "image", "Lite", "", true},
          {"other", "/n/other", "image", "Other", "", false},
          {"yamnet", "/n/yamnet", "sound", "YAMNet", "", true}};
}

std::string refusal_of(const std::string& kind, const std::string& named,
                       const std::vector<InstalledNetwork>& installed) {
  try {
    return network_for(kind, named, installed).name;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(SetupNetwork, IsTheDefaultOfTheKindOrTheOneThatIsNamed) {
  EXPECT_EQ(network_for("image", "", shelf()).name, "lite");
  EXPECT_EQ(network_for("sound", "", shelf()).name, "yamnet");
  EXPECT_EQ(network_for("sound", "birds", shelf()).name, "birds");
}

TEST(SetupNetwork, WhatIsMissingIsSaidWithWhatToDo) {
  EXPECT_THAT(refusal_of("image", "", {}), HasSubstr("install the package moild-models"));
  EXPECT_THAT(refusal_of("image", "nothing", shelf()), HasSubstr("birds, lite, other, yamnet"));
  EXPECT_THAT(refusal_of("image", "birds", shelf()), HasSubstr("birds takes sounds"));
}

}  // namespace
}  // namespace moil::daemon::ctl
