#include "daemon/ctl/review/terminal_review.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/daemon/client/samples_fixture.h"

namespace moil::daemon::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TerminalReview : public SamplesTest {
 protected:
  // What a terminal shows while these lines are answered.
  std::string on_terminal(const std::string& answers) {
    std::istringstream in(answers);
    ::testing::internal::CaptureStdout();
    Session session;
    session.socket = moild_.socket();
    EXPECT_EQ(review_on_terminal(session, "", in), 0);
    return ::testing::internal::GetCapturedStdout();
  }
};

TEST_F(TerminalReview, AsksForOneSampleAfterTheOther) {
  const std::string one = add("one"), two = add("two"), three = add("three");
  add("four", {"cat"});
  add("five", {"cat"});
  add("six", {"dog"});
  const std::string shown = on_terminal("1\n bird \n\n");
  EXPECT_THAT(shown, HasSubstr("1/3  one  1: cat  2: dog"));
  EXPECT_THAT(shown, HasSubstr("3/3  three  1: bird  2: cat  3: dog"));
  EXPECT_THAT(shown, HasSubstr("2 of 3 labelled"));
  EXPECT_EQ(labels_of(one), Labels{"cat"});
  EXPECT_EQ(labels_of(two), Labels{"bird"});
  EXPECT_EQ(labels_of(three), Labels());
}

TEST_F(TerminalReview, TakesBackAndEnds) {
  const std::string one = add("one"), two = add("two");
  const std::string shown = on_terminal("u\ncat\nu\ndog\nq\n");
  EXPECT_THAT(shown, HasSubstr("1 of 2 labelled"));
  EXPECT_EQ(labels_of(one), Labels{"dog"});
  EXPECT_EQ(labels_of(two), Labels());
  EXPECT_EQ(label_names(), Labels{"dog"});
}

TEST_F(TerminalReview, ALabelMayBeANumber) {
  const std::string one = add("one");
  for (const char* label : {"3", "2", "1"}) add(label, {label});
  const std::string shown = on_terminal("2\n");
  EXPECT_THAT(shown, Not(HasSubstr("1: ")));
  EXPECT_EQ(labels_of(one), Labels{"2"});
}

TEST_F(TerminalReview, ALabelThatDiffersInCaseAloneIsGivenTwice) {
  const std::string one = add("one"), two = add("two");
  add("three", {"cat"});
  on_terminal("Cat\ncat\nCat\nCat\n");
  EXPECT_EQ(labels_of(one), Labels{"cat"});
  EXPECT_EQ(labels_of(two), Labels{"Cat"});
}

TEST_F(TerminalReview, TellsWhenThereIsNothingToDo) {
  add("one", {"cat"});
  EXPECT_THAT(on_terminal(""), HasSubstr("there are no unlabelled samples"));
}

}  // namespace
}  // namespace moil::daemon::ctl
