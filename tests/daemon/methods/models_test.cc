// The model store: imports, rollback, and what recovery does with what a crash left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files/file.h"
#include "daemon/spec/job_result.h"
#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

class Models : public StartedTest {
 protected:
  fs::path model(const std::string& entry) const { return state() / "models/digits" / entry; }
  void start_with_a_model() {
    start();
    import_model(*server_);
  }
  Json active() const { return version()["version"]; }
  // One that had begun when its daemon died, before a worker ran.
  std::int64_t begun_job() {
    start_with_a_model();
    server_->world.minute = 720;
    const std::int64_t id = submit("night", false);
    server_.reset();
    Database database(state() / "moild.db", Database::Access::kReadWrite);
    prepare_database(database);
    ModelStore models(database, StateLayout(state()));
    JobStore jobs(database, models);
    EXPECT_EQ(jobs.prepare(id).version, 2);
    jobs.begin(id);
    return id;
  }
};

TEST_F(Models, ImportsAreNumberedAndTheLatestIsActive) {
  start_with_a_model();
  import_model(*server_);
  const Json models = call("model.list")["models"];
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0]["active"], false);
  EXPECT_EQ(models[1]["active"], true);
  EXPECT_EQ(models[1]["parent"], 1);
  EXPECT_EQ(models[1]["summary"], "3 layers, 7 labels");
  EXPECT_TRUE(fs::exists(model("2/model.json")));
}

TEST_F(Models, ABadModelLeavesNothingBehind) {
  start();
  const TempFolder empty;
  const Json reply = ask("model.import", {{"name", "digits"}, {"path", empty.path().string()}});
  EXPECT_EQ(reply["error"]["data"]["code"], "bad_data");
  EXPECT_THAT(reply["error"]["message"], ::testing::HasSubstr("no model.json"));
  EXPECT_TRUE(call("model.list")["models"].empty());
  EXPECT_TRUE(fs::is_empty(state() / "models/digits"));
}

TEST_F(Models, NothingIsImportedWhoseNightsWouldHaveNoPack) {
  start();
  const TempFolder source, pack;
  std::ofstream(source / "model.json") << "{}";
  Json params = {{"name", "digits"}, {"path", source.path().string()}, {"pack", "pack"}};
  EXPECT_EQ(ask("model.import", params)["error"]["data"]["errors"][0]["pointer"], "/pack");
  params["pack"] = pack.path().string();
  EXPECT_EQ(error_of("model.import", params), "not_found");
  EXPECT_TRUE(call("model.list")["models"].empty());
  std::ofstream(pack / "pack.json") << "{}";
  EXPECT_EQ(call("model.import", params)["active"], true);
}

TEST_F(Models, AWorkerThatIsNotThere) {
  Config config = quick_config();
  config.worker.path = "/nowhere/moil-worker";
  start(config);
  const Json reply = ask("model.import", {{"name", "digits"}, {"path", "/tmp"}});
  EXPECT_EQ(reply["error"]["data"]["code"], "io");  // what the client named is not missing
  EXPECT_THAT(reply["error"]["message"], ::testing::HasSubstr("/nowhere/moil-worker"));
}

TEST_F(Models, NamesThatWouldLeaveTheStoreAreRefused) {
  start();
  for (const char* name : {"..", "a/b", "", ".x"}) {
    const Json reply = ask("model.import", {{"name", name}, {"path", "/tmp"}});
    EXPECT_EQ(reply["error"]["code"], kInvalidParams) << name;
    EXPECT_EQ(reply["error"]["data"]["errors"][0]["pointer"], "/name");
  }
}

TEST_F(Models, RollbackGoesToTheParentAndNoFurtherThanTheFirst) {
  start_with_a_model();
  run_job("night");
  EXPECT_EQ(active(), 2);
  EXPECT_EQ(call("model.rollback", {{"model", "digits"}})["version"], 1);
  EXPECT_EQ(active(), 1);
  EXPECT_EQ(error_of("model.rollback", {{"model", "digits"}}), "failed_precondition");
  call("model.activate", {{"model", "digits"}, {"version", 2}});
  EXPECT_EQ(active(), 2);
}

TEST_F(Models, PredictChecksWhatItIsAsked) {
  start();
  const auto errors = [&](const Json& params) {
    return ask("model.predict", params)["error"]["data"].value("errors", Json());
  };
  EXPECT_EQ(errors(Json::object())[0]["pointer"], "/images");
  EXPECT_EQ(errors({{"images", Json::array()}})[0]["pointer"], "/images");
  EXPECT_EQ(errors({{"images", {{{"content", "%"}}, {{"file", 0}}}}}).size(), 2U);
  EXPECT_EQ(errors({{"images", {{{"content", ""}}}}, {"top", 0}})[0]["pointer"], "/top");
}

TEST_F(Models, PredictWantsANameWhereThereAreSeveralModels) {
  start_with_a_model();
  const TempFolder other;
  std::ofstream(other / "model.json") << "{}";
  call("model.import", {{"name", "cats"}, {"path", other.path().string()}});
  Json params{{"images", {{{"content", "c2V2ZW4="}}}}};
  const Json reply = ask("model.predict", params);
  EXPECT_EQ(reply["error"]["data"]["code"], "invalid_argument");
  EXPECT_THAT(reply["error"]["message"], ::testing::HasSubstr("cats, digits"));
  params["model"] = "digits";
  EXPECT_EQ(call("model.predict", params)["model"], "digits");
}

TEST_F(Models, PredictionsOfManyClientsWaitForEachOther) {
  start_with_a_model();
  const Json params = {{"images", {{{"content", "c2V2ZW4="}}, {{"content", "c2V2ZW4="}}}}};
  const std::string request = request_line("model.predict", params);
  std::vector<std::unique_ptr<Line>> clients;
  for (int i = 0; i < 12; ++i) {
    clients.push_back(std::make_unique<Line>(socket()));
    clients.back()->send(request);
  }
  for (const auto& client : clients) {
    const Json reply = client->read();
    ASSERT_TRUE(reply.contains("result")) << reply.dump();
    EXPECT_EQ(reply["result"]["predictions"][1]["top"][0]["label"], "seven");
  }
}

// 6,000 names of 200 bytes.
TEST_F(Models, AReplyOfTheWorkerMayBeLong) {
  start_with_a_model();
  const Json image = {{"content", "bWFueQ=="}};  // "many"
  const Json reply =
      call("model.predict", {{"images", std::vector<Json>(6, image)}, {"top", 1000}});
  ASSERT_EQ(reply["predictions"].size(), 6U);
  EXPECT_EQ(reply["predictions"][5]["top"].size(), 1000U);
  EXPECT_GT(reply.dump().size(), std::size_t{1} << 20);
}

TEST_F(Models, UnknownModelsAndVersions) {
  start_with_a_model();
  for (const auto& [method, params] : std::vector<std::pair<std::string, Json>>{
           {"model.get", {{"model", "cats"}}},
           {"model.get", {{"model", "digits"}, {"version", 9}}},
           {"model.activate", {{"model", "digits"}, {"version", 9}}},
           {"model.rollback", {{"model", "cats"}}},
           {"model.list", {{"model", "cats"}}}}) {
    EXPECT_EQ(error_of(method, params), "not_found") << method;
  }
  EXPECT_EQ(active(), 1);
}

TEST_F(Models, WhatACrashLeftIsRemovedAndWhatCountsStays) {
  start_with_a_model();
  server_.reset();
  fs::create_directories(model(".incoming-2"));
  fs::create_directories(model("3"));  // renamed, never recorded, of no job
  start();
  EXPECT_FALSE(fs::exists(model(".incoming-2")));
  EXPECT_FALSE(fs::exists(model("3")));
  EXPECT_TRUE(fs::exists(model("1/model.json")));
  EXPECT_EQ(active(), 1);
}

// A crash between the worker's rename and the daemon's record: the job runs again, finds its
// version in place and reports it.
TEST_F(Models, AVersionRenamedButNotRecordedIsRecordedByItsJob) {
  const std::int64_t id = begun_job();
  fs::create_directories(model("2"));
  std::ofstream(model("2") / "model.json") << "the worker's";
  start();
  const Json job = wait_for(id);
  EXPECT_EQ(job["version"], 2);
  EXPECT_EQ(active(), 2);
  std::ifstream in(model("2") / "model.json");
  std::string text;
  std::getline(in, text);
  EXPECT_EQ(text, "the worker's");
}

// What finished while the daemon was dying is recorded when it starts: no worker could run.
TEST_F(Models, ADaemonThatRestartsFindsAFinishedResult) {
  const std::int64_t id = begun_job();
  const StateLayout layout(state());
  fs::create_directories(model("2"));
  fs::create_directories(layout.job(id));
  JobResult result;
  result.promoted = true;
  result.reason = "found";
  write_result(layout, id, result);
  Config config = quick_config();
  config.worker.path = "/nowhere/moil-worker";
  start(config);
  const Json job = wait_for(id);
  EXPECT_EQ(job["message"], "found");
  EXPECT_EQ(job["attempts"], 1);
  EXPECT_EQ(active(), 2);
  EXPECT_TRUE(eventually([&] { return !fs::exists(layout.job(id)); }));
}

TEST_F(Models, ARecordFailsAsAWholeWhereTheFolderIsMissing) {
  fs::create_directories(state());
  Database database(state() / "moild.db", Database::Access::kReadWrite);
  prepare_database(database);
  const StateLayout layout(state());
  make_private_folder(layout.models());
  ModelStore models(database, layout);
  const auto first = models.reserve("digits", {}, {});
  fs::create_directories(layout.version("digits", first));
  {
    Transaction transaction(database, Transaction::Kind::kWrite);
    models.record("digits", first, "", Json::object(), true);
    transaction.commit();
  }
  const auto second = models.reserve("digits", first, {});
  try {
    Transaction transaction(database, Transaction::Kind::kWrite);
    models.record("digits", second, "", Json::object(), true);
    transaction.commit();
    FAIL() << "recorded a version that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
  }
  EXPECT_EQ(models.active("digits")->version, first);
  EXPECT_EQ(models.list().size(), 1U);
}

}  // namespace
}  // namespace moil::daemon::test
