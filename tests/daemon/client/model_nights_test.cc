#include "daemon/client/model_nights.h"

#include "tests/daemon/client/samples_fixture.h"

namespace moil::daemon {
namespace {

class ModelNights : public SamplesTest {
 protected:
  ModelNights() { test::import_model(moild_); }

  std::int64_t night(const std::string& name, const std::string& state = "succeeded") {
    const std::int64_t job = test::submit(moild_.socket(), name);
    test::wait_for(moild_.socket(), job, state);
    return job;
  }
  Json ask(const NightsAsked& asked) { return fetch_nights(session_, asked); }
};

TEST_F(ModelNights, ShowTheModelThatStayed) {
  const std::int64_t first = night("night"), kept_back = night("reject", "rejected-by-guard");
  night("bad-data", "failed");
  const Json nights = ask({.model = "digits"});
  ASSERT_EQ(nights.size(), 2U);
  EXPECT_EQ(nights[0]["job"], first);
  EXPECT_EQ(nights[0]["local"], 0.98);
  EXPECT_EQ(nights[0]["before"], 0.1);
  EXPECT_EQ(nights[0]["kept_back"], false);
  EXPECT_EQ(nights[1]["job"], kept_back);
  EXPECT_EQ(nights[1]["local"], 0.1) << "as it was before";
  EXPECT_EQ(nights[1]["kept_back"], true);
}

TEST_F(ModelNights, AreOfOneModelUpToAJobAndOfOneMetric) {
  const std::int64_t first = night("night");
  night("night");
  EXPECT_EQ(ask({.model = "digits"}).size(), 2U);
  EXPECT_EQ(ask({.model = "other"}), Json::array());
  const Json before = ask({.model = "digits", .last_job = first});
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(before[0]["job"], first);
  EXPECT_EQ(ask({.model = "digits", .metric = "accuracy"}).size(), 2U);
  EXPECT_EQ(ask({.model = "digits", .metric = "R2"}), Json::array());
}

TEST_F(ModelNights, GoBackBeyondAPageOfJobs) {
  const std::int64_t first = night("night");
  for (int i = 0; i < 120; ++i) night("bad-data", "failed");
  const Json nights = ask({.model = "digits"});
  ASSERT_EQ(nights.size(), 1U);
  EXPECT_EQ(nights[0]["job"], first);
}

TEST(NightOf, IsNothingIfNothingWasMeasured) {
  EXPECT_EQ(night_of({{"id", 1}}), nullptr);
  EXPECT_EQ(night_of({{"id", 1}, {"result", nullptr}}), nullptr);
  EXPECT_EQ(night_of({{"id", 1}, {"result", {{"promoted", true}, {"local_after", nullptr}}}}),
            nullptr);
  const Json of_an_older_moild{{"id", 1}, {"result", {{"promoted", true}, {"local_after", 0.5}}}};
  EXPECT_EQ(night_of(of_an_older_moild)["metric"], "accuracy");
}

}  // namespace
}  // namespace moil::daemon
