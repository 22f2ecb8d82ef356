// Who would compute what, asked of a job's plan in the test's own process.
#include "daemon/night/plan/processor_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/night/night_plan.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

using ::testing::HasSubstr;

class ProcessorPlans : public ::testing::Test {
 protected:
  Json plan(const Json& description, const PlanRequest& request) {
    const daemon::JobSpec spec = daemon::job_spec_from_json(description);
    return plan_job(place_.layout(), place_.job_file(spec, 1), request);
  }

  JobPlace place_;
};

TEST_F(ProcessorPlans, TellTheNightsTraining) {
  const Json plan = this->plan(place_.description(), {.picture = true, .processors = "opencl"});
  const Json& told = plan.at("processors");
  if (told.contains("why")) GTEST_SKIP() << told.at("why");
  EXPECT_EQ(told.at("method"), "opencl");
  EXPECT_NE(told.at("device"), "");
  std::string letters;
  for (const Json& layer : told.at("layers")) {
    letters += layer.at("processors").get<std::string>();
    if (!layer.contains("FP")) continue;
    EXPECT_GT(layer.at("FP").at("c"), 0) << layer;
  }
  EXPECT_THAT(letters, HasSubstr("GGG"));
  EXPECT_EQ(told.at("methods").size(), kSelectionMethods.size());
  EXPECT_LE(told.at("methods").at("path").at("seconds"),
            told.at("methods").at("cpu").at("seconds"));
  EXPECT_THAT(plan.at("picture").get<std::string>(), HasSubstr(", opencl on "));
  EXPECT_GT(plan.at("predicted_bytes"), 0);
}

TEST_F(ProcessorPlans, AreNotMadeUnlessAskedFor) {
  const Json plan = this->plan(place_.description(), {.picture = true});
  EXPECT_FALSE(plan.contains("processors"));
  EXPECT_THAT(plan.at("picture").get<std::string>(), HasSubstr("<svg"));
}

TEST_F(ProcessorPlans, SayWhyOnlyTheCpuComesIntoQuestion) {
  Json nothing = place_.description();
  nothing["freeze"]["trainable_layers"] = 0;
  EXPECT_EQ(plan(nothing, {.processors = "path"}).at("processors"),
            Json({{"why", "nothing trains"}}));
  for (const auto& [name, value] :
       std::map<std::string, Json>{{"elastic", Json::object()}, {"exact_arithmetic", true}}) {
    Json asked = place_.description();
    asked[name] = value;
    const Json plan = this->plan(asked, {.picture = true, .processors = "path"});
    EXPECT_THAT(plan.at("processors").at("why").get<std::string>(), HasSubstr("the CPU's alone"));
    EXPECT_FALSE(plan.contains("picture"));
    EXPECT_FALSE(plan.at("training").is_null());
  }
}

TEST_F(ProcessorPlans, KnowTheMethods) {
  try {
    (void)plan(place_.description(), {.processors = "gpu"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("known: cpu, opencl, step_wise, layer_wise, path"));
  }
}

}  // namespace
}  // namespace moil::night
