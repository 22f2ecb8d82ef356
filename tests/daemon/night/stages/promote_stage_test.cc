#include "daemon/night/stages/night_files.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

// Nor of soft targets. The daemon removes the folder, but may be gone for long; and what a guard
// held back has weights there, too.
TEST(PromoteStage, LeavesNoCheckpointBehind) {
  for (const double least : {0.0, 1.0}) {
    JobPlace place;
    Json description = place.description();
    description.merge_patch({{"train", {{"distill", 0.5}, {"checkpoint_seconds", 0.001}}},
                             {"guard", {{"min_local_accuracy", least}}}});
    const JobTrace night = place.run(place.submitted(description));
    EXPECT_EQ(night.result["promoted"], least == 0);
    const NightFiles files(place.layout().job(1));
    for (const auto& path : {files.checkpoint(), files.soft_targets()}) {
      EXPECT_TRUE(night.written.contains(path.filename())) << path << " was never there";
      EXPECT_FALSE(std::filesystem::exists(path)) << path;
    }
  }
}

}  // namespace
}  // namespace moil::night
