// Forgetting through the server: nothing of a sample stays, wherever it was, and what learned from
// it can be found and removed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/files/file.h"
#include "daemon/json/base64.h"
#include "daemon/upkeep/cache_access.h"
#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

class Forget : public StartedTest {
 protected:
  void start() {
    StartedTest::start();
    import_model(*server_);
  }
  std::string add(const std::string& text) const {
    const Json sample{{"content", encode_base64(photo(text))}, {"name", text + ".jpg"}};
    return call("label.add", {{"labels", {"cat"}}, {"samples", {sample}}})["samples"][0]["digest"];
  }
  // From now on nights are trained on these samples.
  void train_on(const std::vector<std::string>& digests) const {
    Json train = Json::array();
    for (const auto& digest : digests) train.push_back({"l", digest, {0}});
    std::ofstream(state() / "mix.json")
        << Json{{"train", train}, {"local_validation", Json::array()}};
  }
  static Json told(std::int64_t number, bool active) {
    return {{"model", "digits"}, {"version", number}, {"active", active}};
  }
  bool database_holds(std::string_view bytes) const {
    for (const char* name :
         {"moild.db", "moild.db-wal", "labels/labels.db", "labels/labels.db-wal"}) {
      const fs::path file = state() / name;
      if (fs::exists(file) && read_text(file).find(bytes) != std::string::npos) return true;
    }
    return false;
  }
  bool state_holds(const std::string& digest) const {
    const auto raw = data::Digest::from_hex(digest).bytes;
    return database_holds(digest) || database_holds(std::string(raw.begin(), raw.end()));
  }
};

TEST_F(Forget, VersionsThatLearnedFromASampleAreToldAndMarked) {
  start();
  const std::string one = add("one"), two = add("two");
  train_on({one});
  run_job("night");  // version 2
  train_on({two});
  run_job("night");  // 3, made from 2
  EXPECT_EQ(call("label.forget", {{"digest", two}})["versions"], Json({told(3, true)}));
  EXPECT_EQ(call("label.forget", {{"digest", one}})["versions"],
            Json({told(2, false), told(3, true)}));
  const Json models = call("model.list")["models"];
  EXPECT_EQ(models[0]["forgotten"], 0);
  EXPECT_EQ(models[1]["forgotten"], 1);
  EXPECT_EQ(models[2]["forgotten"], 2);
  EXPECT_TRUE(eventually([&] { return !state_holds(one) && !state_holds(two); }));
}

TEST_F(Forget, WhatARemovedVersionLearnedLivesOnInThoseMadeFromIt) {
  start();
  const std::string one = add("one");
  train_on({one});
  run_job("night");
  train_on({});
  run_job("night");
  EXPECT_EQ(error_of("model.rm", {{"model", "digits"}, {"version", 3}}), "failed_precondition");
  EXPECT_EQ(error_of("model.rm", {{"model", "digits"}, {"version", 7}}), "not_found");
  call("model.rm", {{"model", "digits"}, {"version", 2}});
  EXPECT_FALSE(fs::exists(state() / "models/digits/2"));
  EXPECT_EQ(version()["parent"], 1);
  EXPECT_EQ(call("label.forget", {{"digest", one}})["versions"], Json({told(3, true)}));
  EXPECT_EQ(call("model.rollback", {{"model", "digits"}})["version"], 1);
  call("model.rm", {{"model", "digits"}, {"version", 3}});
  import_model(*server_);
  EXPECT_EQ(version()["version"], 4) << "numbers are not used twice";
}

TEST_F(Forget, AVersionThatAnUnfinishedJobBeganWithStays) {
  start();
  const auto id = submit("slow", false);
  wait_for(id, "running");
  server_->world.minute = 720;
  wait_for(id, "queued");
  run_job("night");  // puts another version in service
  EXPECT_EQ(error_of("model.rm", {{"model", "digits"}, {"version", 1}}), "failed_precondition");
  call("job.cancel", {{"id", id}});
  wait_for(id, "cancelled");
  EXPECT_EQ(error_of("model.rm", {{"model", "digits"}, {"version", 1}}), "none");
}

// The worker does not hear that it should stop and ends its work. tests/e2e/crash_test.py has one
// that stops, in any stage.
TEST_F(Forget, AResultThatLearnedFromTheSampleIsNotPutInService) {
  start();
  const std::string one = add("one");
  train_on({one});
  submit("deaf");
  wait_for(1, "running");
  ASSERT_TRUE(eventually([&] { return fs::exists(state() / "jobs/1/place"); }));
  train_on({});
  let_go();
  call("label.forget", {{"digest", one}});
  const Json job = wait_for(1);
  const Json learned = version();
  EXPECT_EQ(learned["version"], 2);
  if (job["attempts"] == 1) {  // it was recorded before: then it is marked
    EXPECT_EQ(learned["forgotten"], 1);
  } else {
    EXPECT_EQ(job["result"]["details"]["resumed_from"], 0);
    EXPECT_EQ(learned["forgotten"], 0);
  }
}

TEST_F(Forget, MessagesAndEventsLoseNameAndDigest) {
  start();
  const std::string one = add("one"), two = add("two");
  std::ofstream(state() / "says") << "one.jpg (sample " << one << "): torn; two.jpg (sample " << two
                                  << "): torn";
  const auto id = submit("bad-data");
  wait_for(id, "failed");
  fs::remove(state() / "says");
  call("label.forget", {{"digest", one}});
  const Json reply = call("job.get", {{"id", id}});
  EXPECT_EQ(reply["job"]["message"],
            "forgotten (sample forgotten): torn; two.jpg (sample " + two + "): torn");
  EXPECT_EQ(reply.dump().find("one.jpg"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return !state_holds(one) && !database_holds("one.jpg"); }));
}

TEST_F(Forget, WhatACrashLeftIsRemovedAtTheNextStart) {
  const auto content = photo("one");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(content.data());
  { const TestServer before(state()); }  // the state is moild's
  {
    data::LabelStore store(state() / "labels", data::LabelStore::Access::kReadWrite);
    const std::vector<std::string> labels = {"cat"};
    store.add_sample({bytes, content.size()}, labels);
    auto cache = open_cache(StateLayout(state()), 0);
    const cache::ModelId model = cache::model_id("backbone", "pixels");
    cache.use_model(model, "backbone");
    const std::vector<float> features = {1, 2, 3};
    cache.put({model, cache::sample_digest({bytes, content.size()})}, features);
    cache.flush();
    store.forget(data::digest_of(content));
    ASSERT_EQ(store.forgetting().size(), 1U);
  }
  start();
  EXPECT_TRUE(eventually([&] { return call("cache.stats")["entries"] == 0; }));
  EXPECT_TRUE(eventually([&] { return !state_holds(data::digest_of(content).hex()); }));
}

TEST_F(Forget, ARemovedLabelsNameIsToldWhereVersionsHaveIt) {
  start();
  add("one");
  std::ofstream(state() / "models/digits/1/labels.json") << R"(["dog", "cat"])";
  const Json reply = call("label.rm", {{"label", "cat"}, {"with_samples", true}});
  EXPECT_EQ(reply["forgotten"], 1);
  EXPECT_EQ(reply["named_in"], Json({told(1, true)}));
}

}  // namespace
}  // namespace moil::daemon::test
