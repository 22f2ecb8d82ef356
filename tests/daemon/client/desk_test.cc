#include "daemon/client/desk.h"

#include "base/error.h"
#include "tests/daemon/client/samples_fixture.h"

namespace moil::daemon {
namespace {

using test::result_of;

class DeskTest : public SamplesTest {
 protected:
  void list() {
    (void)desk_.samples(true, 0);
    (void)desk_.samples(false, 0);
  }

  Desk desk_{session_};
};

TEST_F(DeskTest, SamplesComeInParts) {
  for (int i = 0; i < 1001; ++i) add("sample " + std::to_string(i));
  const Json first = desk_.samples(true, 0);
  EXPECT_EQ(first["samples"].size(), 1000U);
  const Json rest = desk_.samples(true, first["next"].get<std::int64_t>());
  EXPECT_EQ(rest["samples"].size(), 1U);
  EXPECT_EQ(rest["samples"][0]["name"], "sample 1000");
  EXPECT_TRUE(rest["next"].is_null());
  EXPECT_EQ(desk_.labels()["unlabelled"], 1001);
}

TEST_F(DeskTest, LabelsWithMostSamplesComeFirst) {
  add("one", {"apple"});
  for (const char* name : {"two", "three"}) add(name, {"pear"});
  for (const char* name : {"no pear", "no pear either", "nor this"}) add(name, {"!pear"});
  EXPECT_EQ(desk_.labels()["labels"], (Json{"pear", "apple"})) << "a denial is no choice";
}

TEST_F(DeskTest, WhatIsDecidedTogetherIsTakenBackTogetherAndIsOneStepOfMoilds) {
  const std::string one = add("one"), two = add("two");
  list();
  desk_.decide({{{one}, {"cat"}}, {{two}, {"dog"}}});
  EXPECT_EQ(labels_of(one), Labels{"cat"});
  EXPECT_EQ(labels_of(two), Labels{"dog"});
  result_of(moild_.socket(), "label.undo");
  EXPECT_EQ(labels_of(one), Labels());
  EXPECT_EQ(labels_of(two), Labels());
}

TEST_F(DeskTest, WhatOneUndoTookBackTheOtherLeavesAlone) {
  const std::string one = add("one"), two = add("two"), three = add("three", {"cat"});
  list();
  desk_.decide({{{one}, {"cat"}}});
  desk_.decide({{{two}, {"dog"}}});
  desk_.decide({{{three}, {"dog"}}});
  // On the page, and then on the command line: the mistake is not there again.
  desk_.undo();
  EXPECT_EQ(labels_of(three), Labels{"cat"});
  result_of(moild_.socket(), "label.undo");
  EXPECT_EQ(labels_of(three), Labels{"cat"});
  EXPECT_EQ(labels_of(two), Labels());
  // And on the page again: what the command line took back is passed over.
  EXPECT_EQ(desk_.undo()["changed"], (Json{{{"digest", one}, {"labels", Json::array()}}}));
  EXPECT_EQ(labels_of(one), Labels());
  EXPECT_EQ(desk_.undo()["changed"], Json::array());
}

TEST_F(DeskTest, ASampleMayGetSeveralLabels) {
  const std::string one = add("one");
  list();
  desk_.decide({{{one}, {"dog", "cat"}}});
  EXPECT_EQ(labels_of(one), (Labels{"cat", "dog"}));
  desk_.decide({{{one}, {}}});
  EXPECT_EQ(labels_of(one), Labels());
  desk_.undo();
  EXPECT_EQ(labels_of(one), (Labels{"cat", "dog"}));
}

TEST_F(DeskTest, ALabelThatCameWithADecisionGoesWithIt) {
  const std::string one = add("one"), two = add("two");
  add("three", {"dog"});
  list();
  desk_.decide({{{one}, {"dgo"}}});
  desk_.decide({{{two}, {"dog"}}});
  desk_.undo();
  EXPECT_EQ(label_names(), (Labels{"dgo", "dog"}));
  desk_.undo();
  EXPECT_EQ(label_names(), Labels{"dog"});
}

TEST_F(DeskTest, ALabelThatOthersUseMeanwhileStays) {
  const std::string one = add("one");
  list();
  desk_.decide({{{one}, {"cat"}}});
  const std::string other = add("other", {"cat"});
  desk_.undo();
  EXPECT_EQ(labels_of(one), Labels());
  EXPECT_EQ(labels_of(other), Labels{"cat"});
}

TEST_F(DeskTest, WhatIsForgottenMeanwhileKeepsNoOthersBack) {
  const std::string one = add("one", {"cat"}), two = add("two", {"cat"});
  list();
  desk_.decide({{{one, two}, {"dog"}}});
  result_of(moild_.socket(), "label.forget", {{"digest", one}});
  desk_.undo();
  EXPECT_EQ(labels_of(two), Labels{"cat"});
  EXPECT_EQ(desk_.undo()["changed"], Json::array());
}

TEST_F(DeskTest, WhatIsRefusedIsNoDecision) {
  const std::string one = add("one");
  list();
  desk_.decide({{{one}, {"cat"}}});
  EXPECT_THROW(desk_.decide({{{one}, {"\x01"}}}), ReplyError);
  EXPECT_THROW(desk_.decide({{{"0123456789abcdef0123456789abcdef"}, {"cat"}}}), Error);
  desk_.undo();
  EXPECT_EQ(labels_of(one), Labels());
}

TEST_F(DeskTest, WhatIsListedOtherwiseCanBeDecidedToo) {
  const std::string one = add("one", {"cat"});
  desk_.take_note({{{"digest", one}, {"labels", {"cat"}}}});
  desk_.decide({{{one}, {"dog"}}});
  desk_.undo();
  EXPECT_EQ(labels_of(one), Labels{"cat"});
}

}  // namespace
}  // namespace moil::daemon
