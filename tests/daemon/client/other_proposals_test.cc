#include <gtest/gtest.h>

#include "daemon/client/model_desk.h"

namespace moil::daemon {
namespace {

// As label.suggest has a sample.
Json sample(const std::vector<std::string>& proposed) {
  Json proposals = Json::array();
  for (const std::string& label : proposed)
    proposals.push_back({{"label", label}, {"probability", 0.3}});
  return {{"digest", "00"}, {"proposals", std::move(proposals)}};
}

TEST(OtherProposals, SomethingElseComesFirstIfItMayBeThat) {
  Json unlike = sample({"pear", "apple", "plum"});
  unlike["something_else"] = true;
  EXPECT_EQ(other_proposals(unlike), Json::array({"something else", "apple", "plum"}));
  Json taught = sample({"pear", "apple", "something else"});
  taught["something_else"] = true;
  EXPECT_EQ(other_proposals(taught), Json::array({"something else", "apple"}));
}

TEST(OtherProposals, AreThoseOfTheModelIfItIsSure) {
  Json sure = sample({"pear", "apple", "plum"});
  EXPECT_EQ(other_proposals(sure), Json::array({"apple", "plum"})) << "a model without calibration";
  sure["something_else"] = false;
  EXPECT_EQ(other_proposals(sure), Json::array({"apple", "plum"}));
}

TEST(OtherProposals, SayNothingTwice) {
  Json none = sample({"something else", "apple"});
  none["something_else"] = true;
  EXPECT_EQ(other_proposals(none), Json::array({"apple"}));
}

}  // namespace
}  // namespace moil::daemon
