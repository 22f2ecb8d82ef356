#include "daemon/ctl/setup/setup_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace moil::daemon::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  EXPECT_THAT(refusal_of("rows", "", shelf()), HasSubstr("moil-pretrain train --data"));
  EXPECT_THAT(refusal_of("image", "nothing", shelf()), HasSubstr("birds, lite, other, yamnet"));
  EXPECT_THAT(refusal_of("image", "birds", shelf()), HasSubstr("birds takes sounds"));
}

std::vector<std::string> texts(const std::vector<SetupStep>& steps) {
  std::vector<std::string> list;
  for (const SetupStep& step : steps) list.push_back(shell_text(step.words));
  return list;
}

TEST(SetupSteps, AreCommandsThatAUserCouldType) {
  FolderContent content;
  content.images = 3;
  content.labels = {"cat", "dog"};
  const SetupWanted wanted{"/home/anna/my photos", "photos", "/n/lite/model", ""};
  EXPECT_THAT(texts(setup_steps(wanted, content, false)),
              ElementsAre("moilctl model import /n/lite/model --name photos --nightly",
                          "moilctl label import '/home/anna/my photos'", "moilctl learn photos"));
}

TEST(SetupSteps, ASecondTimeAddsWhatIsNew) {
  FolderContent content;
  content.images = 3;
  content.labels = {"cat"};
  const SetupWanted wanted{"/photos", "photos", "/n/lite/model", "/pack"};
  EXPECT_THAT(texts(setup_steps(wanted, content, true)),
              ElementsAre("moilctl label import /photos", "moilctl learn photos"));
  content.labels.clear();
  content.unlabelled = 3;
  EXPECT_THAT(texts(setup_steps(wanted, content, false)),
              ElementsAre("moilctl model import /n/lite/model --name photos --nightly --pack /pack",
                          "moilctl label import /photos"))
      << "nobody has said what they show";
}

TEST(ShellText, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_text({"label", "import", "a b", "it's", "", "$x"}),
            "moilctl label import 'a b' 'it'\\''s' '' '$x'");
}

}  // namespace
}  // namespace moil::daemon::ctl
