#include "daemon/night/stages/distill_stage.h"

#include <gmock/gmock.h>

#include "base/files/file.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

std::string targets_of(const JobPlace& place) {
  return read_text(NightFiles(place.layout().job(place.last_job())).soft_targets());
}

// Night after night, what was known is what the model knew before the first.
TEST(DistillStage, TheTeacherIsTheAnchorWhileItsFrozenLayersAreTheNights) {
  JobPlace place;
  Json description = place.description();
  description["freeze"]["trainable_layers"] = 1;
  description["train"]["optimizer"]["learning_rate"] = 0.5;
  const auto classifier = place.submitted(description);
  (void)place.run(classifier);
  const std::string first = targets_of(place);
  (void)place.run(classifier, 2, 1);
  EXPECT_EQ(targets_of(place), first);
  (void)place.run(classifier, 2);
  EXPECT_NE(targets_of(place), first) << "without an anchor, the model before the night";

  description["freeze"]["trainable_layers"] = "all";
  (void)place.run(place.submitted(description), 2, 1);
  const std::int64_t deep = 1 + place.last_job();
  (void)place.run(classifier, deep);
  const std::string own = targets_of(place);
  (void)place.run(classifier, deep, 1);
  EXPECT_EQ(targets_of(place), own) << "its classifier reads other features";
  (void)place.run(classifier, deep, 99);
  EXPECT_EQ(targets_of(place), own) << "an anchor that is gone";
}

}  // namespace
}  // namespace moil::night
