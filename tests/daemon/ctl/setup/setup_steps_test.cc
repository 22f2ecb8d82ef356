#include "daemon/ctl/setup/setup_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moil::daemon::ctl {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts(const std::vector<SetupStep>& steps) {
  std::vector<std::string> list;
  for (const SetupStep& step : steps) list.push_back(shell_text(step.words));
  return list;
}

FolderContent photos(std::size_t count, const std::set<std::string>& labels) {
  FolderContent content;
  content.images = count;
  content.labels = labels;
  return content;
}

FolderContent table() {
  FolderContent content;
  content.numbers = 150;
  content.label_column = "species";
  return content;
}

TEST(SetupSteps, AreCommandsThatAUserCouldType) {
  const SetupWanted wanted{"/home/anna/my photos", "photos", "/n/lite/model", "", "/tmp/s"};
  EXPECT_THAT(texts(setup_steps(wanted, photos(3, {"cat", "dog"}), {})),
              ElementsAre("moilctl model import /n/lite/model --name photos --nightly",
                          "moilctl label import '/home/anna/my photos'", "moilctl learn photos"));
}

TEST(SetupSteps, ASecondTimeAddsWhatIsNew) {
  const SetupWanted wanted{"/photos", "photos", "/n/lite/model", "/pack", "/tmp/s"};
  EXPECT_THAT(texts(setup_steps(wanted, photos(3, {"cat"}), {.model = true})),
              ElementsAre("moilctl label import /photos", "moilctl learn photos"));
  FolderContent unlabelled = photos(3, {});
  unlabelled.unlabelled = 3;
  EXPECT_THAT(texts(setup_steps(wanted, unlabelled, {})),
              ElementsAre("moilctl model import /n/lite/model --name photos --nightly --pack /pack",
                          "moilctl label import /photos"))
      << "nobody has said what they show";
}

TEST(SetupSteps, TellWhoSpellsLabelsOnPurpose) {
  const SetupWanted wanted{"/photos", "photos", "/n", "", "/tmp/s", /*as_spelled=*/true};
  EXPECT_THAT(texts(setup_steps(wanted, photos(3, {"Cat"}), {.model = true})),
              ElementsAre("moilctl label import /photos --as-spelled", "moilctl learn photos"));
}

TEST(SetupSteps, OfATableTrainANetworkOfItsOwn) {
  const SetupWanted wanted{"/t.csv", "numbers", "", "", "/tmp/s"};
  const std::string data = "--data /t.csv --label-column species";
  EXPECT_THAT(texts(setup_steps(wanted, table(), {})),
              ElementsAre("moil-pretrain train " + data + " --out /tmp/s/base",
                          "moilctl pack import /tmp/s/base/pack --name numbers",
                          "moilctl model import /tmp/s/base/model --name numbers --nightly --pack "
                          "numbers",
                          "moil-pretrain images " + data +
                              " --val-fraction 0.2 --out "
                              "/tmp/s/samples",
                          "moilctl label import /tmp/s/samples"))
      << "held out is what the network has not learned; it knows the rest, so nothing is learned";
  EXPECT_THAT(texts(setup_steps(wanted, table(), {.model = true, .pack = true})),
              ElementsAre("moil-pretrain images " + data + " --out /tmp/s/samples",
                          "moilctl label import /tmp/s/samples", "moilctl learn numbers"));
  EXPECT_EQ(texts(setup_steps(wanted, table(), {.pack = true})).at(1), "moilctl pack rm numbers")
      << "of a setup before, whose model is gone";
}

TEST(SetupSteps, OfNumbersWithAModelTakeIt) {
  FolderContent content;
  content.numbers = 8;
  content.labels = {"run", "walk"};
  EXPECT_THAT(texts(setup_steps({"/n", "numbers", "/m", "/pack", "/tmp/s"}, content, {})),
              ElementsAre("moilctl model import /m --name numbers --nightly --pack /pack",
                          "moil-pretrain images --data /n --out /tmp/s/samples",
                          "moilctl label import /tmp/s/samples", "moilctl learn numbers"));
}

TEST(UndoSteps, TakeBackWhatIsThere) {
  const SetupWanted wanted{"/photos", "photos", "", "", "/tmp/s"};
  EXPECT_THAT(texts(undo_steps(wanted, photos(3, {"cat"}), {.model = true, .pack = true})),
              ElementsAre("moilctl model rm photos --yes", "moilctl label forget /photos --yes"))
      << "a pack that happens to be called so is another's";
  EXPECT_THAT(texts(undo_steps(wanted, photos(3, {"cat"}), {})),
              ElementsAre("moilctl label forget /photos --yes"));
  const SetupWanted numbers{"/t.csv", "numbers", "", "", "/tmp/s"};
  EXPECT_THAT(texts(undo_steps(numbers, table(), {.model = true, .pack = true})),
              ElementsAre("moilctl model rm numbers --yes", "moilctl pack rm numbers",
                          "moil-pretrain images --data /t.csv --label-column species --out "
                          "/tmp/s/samples",
                          "moilctl label forget /tmp/s/samples --yes"));
}

TEST(ShellText, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_text({"moilctl", "label", "import", "a b", "it's", "", "$x"}),
            "moilctl label import 'a b' 'it'\\''s' '' '$x'");
}

}  // namespace
}  // namespace moil::daemon::ctl
