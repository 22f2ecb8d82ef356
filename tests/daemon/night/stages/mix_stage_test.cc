#include <gtest/gtest.h>

#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

// Nights after the one that added a label are told, too, that global samples lack it.
TEST(MixStage, GlobalSamplesLackWhatNightsAddedSinceTheAnchor) {
  JobPlace place;
  const auto head = place.head_alone();
  EXPECT_EQ(place.run(head).samples.at("global_classes"), 3) << "\"new\" is the fourth";
  EXPECT_EQ(place.version(2).labels.size(), 4U);
  EXPECT_EQ(place.run(head, 2, 1).samples.at("global_classes"), 3);
  EXPECT_EQ(place.run(head, 2, 2).samples.at("global_classes"), 4) << "it is the anchor's own";
  EXPECT_EQ(place.run(head, 2).samples.at("global_classes"), 4) << "there is no anchor";
  EXPECT_EQ(place.run(head, 2, 99).samples.at("global_classes"), 4) << "it is gone";
}

}  // namespace
}  // namespace moil::night
