#include <gmock/gmock.h>

#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

// Night after night, what was known is what the anchor knows: told by the weights that a night ends
// in, which are the same for the same teacher.
TEST(DistillStage, TheTeacherIsTheAnchorWhileItsFrozenLayersAreTheNights) {
  JobPlace place;
  Json description = place.description();
  description["freeze"]["trainable_layers"] = 1;
  const auto classifier = place.submitted(description);
  (void)place.run(classifier);
  const std::string own = place.run(classifier, 2).weights;
  EXPECT_EQ(place.run(classifier, 2, 2).weights, own) << "it is the anchor itself";
  EXPECT_NE(place.run(classifier, 2, 1).weights, own);
  EXPECT_EQ(place.run(classifier, 2, 99).weights, own) << "an anchor that is gone";

  description["freeze"]["trainable_layers"] = "all";
  (void)place.run(place.submitted(description), 2);
  const std::int64_t deep = 1 + place.last_job();
  EXPECT_EQ(place.run(classifier, deep, 1).weights, place.run(classifier, deep).weights)
      << "its classifier reads other features";
}

}  // namespace
}  // namespace moil::night
