// model.learn: which job it submits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/daemon/support/test_server.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;

class Learn : public ::testing::Test {
 protected:
  Learn() {
    import_model(server_);
    fs::create_directories(pack_);
  }

  Json learn(Json params = Json::object()) const {
    params["model"] = "digits";
    return ask(server_.socket(), "model.learn", params);
  }
  Json job(const Json& reply) const {
    return result_of(server_.socket(), "job.get", {{"id", reply["result"]["id"]}})["job"];
  }

  TempFolder folder_;
  TestServer server_{folder_ / "state"};
  const fs::path pack_ = folder_ / "pack";
};

TEST_F(Learn, WithoutAJobBeforeThePackIsAskedFor) {
  const Json error = learn()["error"];
  ASSERT_EQ(error["code"], kInvalidParams) << error;
  EXPECT_EQ(error["data"]["errors"][0]["pointer"], "/pack");
  EXPECT_THAT(error["data"]["errors"][0]["message"].get<std::string>(), HasSubstr("name it"));
  EXPECT_EQ(learn({{"pack", "here"}})["error"]["data"]["errors"][0]["pointer"], "/pack");
}

TEST_F(Learn, RunsAtOnceAsAJobOfNoEpochs) {
  server_.world.minute = 720;  // no night
  const Json reply = learn({{"pack", pack_.string()}, {"labels", {"mug"}}});
  ASSERT_TRUE(reply.contains("result")) << reply;
  EXPECT_EQ(reply["result"]["pack"], pack_.string());
  const Json done = wait_for(server_.socket(), reply["result"]["id"], "succeeded");
  EXPECT_EQ(done["now"], true);
  const Json spec = job(reply)["spec"];
  EXPECT_EQ(spec["train"]["epochs"], 0);
  EXPECT_EQ(spec["local"]["labels"], Json({"mug"}));
  EXPECT_EQ(spec["freeze"]["trainable_layers"], 1);
}

TEST_F(Learn, TakesPackAndFrozenLayersOfTheLastJob) {
  Json night = job_named("night", pack_);
  night.merge_patch({{"global", {{"alpha", 0.25}}}, {"freeze", {{"trainable_layers", 4}}}});
  const Json id = result_of(server_.socket(), "job.submit", {{"job", night}, {"now", true}})["id"];
  wait_for(server_.socket(), id, "succeeded");
  const Json reply = learn();
  ASSERT_TRUE(reply.contains("result")) << reply;
  const Json spec = job(reply)["spec"];
  EXPECT_EQ(spec["global"]["pack"], pack_.string());
  EXPECT_EQ(spec["global"]["alpha"], 0.25);
  EXPECT_EQ(spec["freeze"]["trainable_layers"], 4);
}

TEST_F(Learn, TakesThePackOfAScheduleWhereNoJobRan) {
  result_of(server_.socket(), "schedule.add",
            {{"schedule", {{"name", "nightly"}, {"job", job_named("night", pack_)}}}});
  EXPECT_EQ(learn()["result"]["pack"], pack_.string());
}

}  // namespace
}  // namespace moil::daemon::test
