// model.learn: which job it submits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;

class Learn : public ServerTest {
 protected:
  Learn() {
    import_model(server_);
    fs::create_directories(pack_);
  }
  static Json of_digits(Json params) {
    params["model"] = "digits";
    return params;
  }
  Json learn(const Json& params = Json::object()) const {
    return call("model.learn", of_digits(params));
  }
  Json spec_of(const Json& reply) const { return job(reply["id"])["spec"]; }

  const fs::path pack_ = folder_ / "pack";
};

TEST_F(Learn, WithoutAJobBeforeThePackIsAskedFor) {
  for (const Json& params : {of_digits(Json::object()), of_digits({{"pack", "here"}})})
    EXPECT_THAT(pointers("model.learn", params), ::testing::ElementsAre("/pack"));
  EXPECT_THAT(complaint("model.learn", of_digits(Json::object())), HasSubstr("name it"));
}

TEST_F(Learn, RunsAtOnceAsAJobOfNoEpochs) {
  server_.world.minute = 720;  // no night
  const Json reply = learn({{"pack", pack_.string()}, {"labels", {"mug"}}});
  EXPECT_EQ(reply["pack"], pack_.string());
  EXPECT_EQ(wait_for(reply["id"])["now"], true);
  const Json spec = spec_of(reply);
  EXPECT_EQ(spec["train"]["epochs"], 0);
  EXPECT_EQ(spec["local"]["labels"], Json({"mug"}));
  EXPECT_EQ(spec["freeze"]["trainable_layers"], 1);
}

TEST_F(Learn, TakesPackAndFrozenLayersOfTheLastJob) {
  Json night = job_named("night", pack_);
  night.merge_patch({{"global", {{"alpha", 0.25}}}, {"freeze", {{"trainable_layers", 4}}}});
  const Json id = call("job.submit", {{"job", night}, {"now", true}})["id"];
  wait_for(id);
  const Json spec = spec_of(learn());
  EXPECT_EQ(spec["global"]["pack"], pack_.string());
  EXPECT_EQ(spec["global"]["alpha"], 0.25);
  EXPECT_EQ(spec["freeze"]["trainable_layers"], 4);
}

TEST_F(Learn, TakesThePackOfAScheduleWhereNoJobRan) {
  call("schedule.add", {{"schedule", {{"name", "nightly"}, {"job", job_named("night", pack_)}}}});
  EXPECT_EQ(learn()["pack"], pack_.string());
}

}  // namespace
}  // namespace moil::daemon::test
