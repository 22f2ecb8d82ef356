// A version's life: where it comes from, what tells it from others, and going back from it for
// good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "tests/daemon/support/test_server.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

class ModelLife : public ::testing::Test {
 protected:
  ModelLife() { import_model(server_); }
  fs::path state() const { return folder_ / "state"; }
  Json call(const std::string& method, const Json& params) const {
    return result_of(server_.socket(), method, params);
  }
  Json error_of(const std::string& method, const Json& params) const {
    return ask(server_.socket(), method, params)["error"];
  }
  Json version(int number = 0) const {
    return call("model.get", {{"model", "digits"}, {"version", number}});
  }
  std::int64_t night() const {
    const auto id = submit(server_.socket(), "night");
    wait_for(server_.socket(), id, "succeeded");
    return id;
  }
  Json job_file(std::int64_t id) const {
    return parsed_json(read_text(state() / "jobs" / std::to_string(id) / "job.json"));
  }

  TempFolder folder_;
  TestServer server_{folder_ / "state"};
};

TEST_F(ModelLife, AVersionKnowsWhereItComesFrom) {
  EXPECT_TRUE(version()["provenance"].is_null());  // imported
  const auto id = night();
  const Json origin = version()["provenance"];
  EXPECT_EQ(origin["job"], Json({{"id", id}, {"name", "night"}, {"schedule", nullptr}}));
  EXPECT_EQ(origin["build"], "9.9");
  EXPECT_EQ(origin["weights"], "weights of 2");
  EXPECT_EQ(origin["data"]["local"]["samples"], 3);
  EXPECT_EQ(origin["settings"]["global"]["pack"], server_.socket().string());
  EXPECT_EQ(origin["settings"]["train"]["epochs"], 10);
  EXPECT_FALSE(origin["settings"].contains("name"));
}

TEST_F(ModelLife, TwoVersionsAreComparedByTheNightBetweenThem) {
  night();
  const Json diff = call("model.diff", {{"model", "digits"}, {"a", 1}, {"b", 2}});
  EXPECT_EQ(diff["a"]["version"], 1);
  EXPECT_EQ(diff["b"]["version"], 2);
  EXPECT_EQ(diff["layers"][0]["identical"], false);
  EXPECT_EQ(diff["same_held_out"], true);
  const Json& seven = diff["labels"][0];
  EXPECT_EQ(seven["global"]["a"], Json({{"held_out", 4}, {"right", 4}}));
  EXPECT_EQ(seven["global"]["b"], Json({{"held_out", 4}, {"right", 3}}));
  EXPECT_EQ(seven["local"]["b"], Json({{"held_out", 2}, {"right", 2}}));
  EXPECT_TRUE(diff["labels"][1]["global"].is_null());
  const Json back = call("model.diff", {{"model", "digits"}, {"a", 2}, {"b", 1}});
  EXPECT_EQ(back["labels"][0]["global"]["a"]["right"], 3);
  EXPECT_EQ(back["labels"][0]["global"]["b"]["right"], 4);
}

TEST_F(ModelLife, VersionsOfNoCommonNightAreComparedByTheirOwn) {
  night();
  night();
  import_model(server_);
  const Json known = call("model.diff", {{"model", "digits"}, {"a", 3}, {"b", 3}});
  EXPECT_EQ(known["layers"][0]["identical"], true);
  EXPECT_EQ(known["same_held_out"], true);
  const Json unknown = call("model.diff", {{"model", "digits"}, {"a", 2}, {"b", 4}});
  EXPECT_TRUE(unknown["same_held_out"].is_null());
  EXPECT_TRUE(unknown["labels"][0]["global"]["b"].is_null());
  EXPECT_EQ(error_of("model.diff", {{"model", "digits"}, {"a", 2}, {"b", 9}})["data"]["code"],
            "not_found");
}

TEST_F(ModelLife, AnExportNeedsAFileToWriteTo) {
  const Json error = error_of("model.export", {{"model", "digits"}, {"file", 0}});
  EXPECT_EQ(error["data"]["errors"][0]["pointer"], "/file");
}

// --- going back ---------------------------------------------------------------------------------

TEST_F(ModelLife, ANightAfterARollbackStartsFromWhereItWent) {
  night();
  night();  // 3, made from 2
  call("model.rollback", {{"model", "digits"}, {"why", "it takes cats for dogs"}});
  const Json gone = version(3)["withdrawn"];
  EXPECT_EQ(gone["cause"], "user");
  EXPECT_EQ(gone["why"], "it takes cats for dogs");
  EXPECT_TRUE(version(2)["withdrawn"].is_null());
  const auto slow = submit(server_.socket(), "slow");
  EXPECT_EQ(wait_for(server_.socket(), slow, "running")["base_version"], 2);
  const Json file = job_file(slow);
  ASSERT_EQ(file["withdrawn"].size(), 1U);
  EXPECT_EQ(file["withdrawn"][0], Json({{"version", 3}, {"weights", "weights of 3"}}));
  EXPECT_EQ(file["anchor_version"], 1);
  std::ofstream(state() / "go") << "go";
  wait_for(server_.socket(), slow, "succeeded");
  EXPECT_EQ(version()["parent"], 2);
  call("model.activate", {{"model", "digits"}, {"version", 3}});
  EXPECT_TRUE(version(3)["withdrawn"].is_null()) << "who wants it back may have it";
}

TEST_F(ModelLife, WhatIsRolledBackFromIsNoAnchor) {
  night();
  call("model.anchor", {{"model", "digits"}, {"version", 2}});
  call("model.rollback", {{"model", "digits"}});
  const Json anchor = call("model.anchor", {{"model", "digits"}});
  EXPECT_EQ(anchor, Json({{"model", "digits"}, {"version", 1}, {"named", false}}));
}

TEST_F(ModelLife, ANightUnderWayBeginsAnewFromWhereARollbackWent) {
  night();
  const auto slow = submit(server_.socket(), "slow");  // from 2
  wait_for(server_.socket(), slow, "running");
  call("model.rollback", {{"model", "digits"}});
  ASSERT_TRUE(eventually([&] {
    const Json job = call("job.get", {{"id", slow}})["job"];
    return job["state"] == "running" && job["base_version"] == 1;
  }));
  EXPECT_EQ(job_file(slow)["base_version"], 1);
  EXPECT_NE(job_file(slow)["version"], 3);
  std::ofstream(state() / "go") << "go";
  const Json job = wait_for(server_.socket(), slow, "succeeded");
  EXPECT_EQ(job["failures"], 0);
  EXPECT_EQ(version()["parent"], 1);
  EXPECT_EQ(version()["version"], job["version"]);
}

TEST_F(ModelLife, ANightThatWaitsBeginsAnewFromWhatIsPutInService) {
  night();
  server_.world.minute = 180;
  const auto slow = submit(server_.socket(), "slow", false);
  wait_for(server_.socket(), slow, "running");
  server_.world.minute = 720;
  wait_for(server_.socket(), slow, "queued");
  call("model.activate", {{"model", "digits"}, {"version", 1}});
  EXPECT_TRUE(call("job.get", {{"id", slow}})["job"]["base_version"].is_null());
  std::ofstream(state() / "go") << "go";
  server_.world.minute = 180;
  wait_for(server_.socket(), slow, "succeeded");
  EXPECT_EQ(version()["parent"], 1);
}

TEST_F(ModelLife, ANightUnderWayDoesNotReplaceAModelThatIsImportedMeanwhile) {
  const auto slow = submit(server_.socket(), "slow");
  wait_for(server_.socket(), slow, "running");
  import_model(server_);  // 3; the night was to write 2
  std::ofstream(state() / "go") << "go";
  EXPECT_EQ(wait_for(server_.socket(), slow, "succeeded")["base_version"], 3);
  EXPECT_EQ(version()["parent"], 3);
}

}  // namespace
}  // namespace moil::daemon::test
