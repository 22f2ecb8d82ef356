// A model that is removed whole: nothing but its jobs knows it any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sqlite/database.h"
#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

class WholeModel : public StartedTest {
 protected:
  WholeModel() {
    start();
    import_model(*server_);
    import_model(*server_, "other");
    run_job("night");  // version 2, in service, made from 1
  }
  std::int64_t rows(const std::string& table) const {
    Database database(state() / "moild.db", Database::Access::kReadOnly);
    return database.number(("SELECT count(*) FROM " + table + " WHERE model = 'digits'").c_str());
  }
};

TEST_F(WholeModel, GoesWithTheVersionInServiceThePinnedOneTheAnchorAndItsSchedules) {
  call("model.pin", {{"model", "digits"}, {"version", 1}});
  call("model.anchor", {{"model", "digits"}, {"version", 1}});
  call("model.rollback", {{"model", "digits"}});
  call("model.activate", {{"model", "digits"}, {"version", 2}});
  Json spec{{"name", "nightly"}, {"enabled", false}, {"job", job_named("night", socket())}};
  call("schedule.add", {{"schedule", spec}});
  const Json reply = call("model.rm", {{"model", "digits"}, {"whole", true}});
  EXPECT_EQ(reply, (Json{{"model", "digits"}, {"versions", {1, 2}}, {"schedules", {"nightly"}}}));
  EXPECT_FALSE(fs::exists(state() / "models/digits/1"));
  EXPECT_FALSE(fs::exists(state() / "models/digits/2"));
  EXPECT_TRUE(call("schedule.list")["schedules"].empty());
  for (const char* table : {"versions", "anchors", "withdrawals", "canaries", "version_samples"})
    EXPECT_EQ(rows(table), 0) << table;
  EXPECT_EQ(call("job.list")["jobs"].size(), 1U);
  EXPECT_EQ(version(0, "other")["version"], 1) << "another model stays";
  EXPECT_EQ(error_of("model.rm", {{"model", "digits"}, {"whole", true}}), "not_found");
  import_model(*server_);
  EXPECT_EQ(version()["version"], 3) << "numbers are not used twice";
}

TEST_F(WholeModel, StaysWhileAJobOfItHasNotEnded) {
  const auto id = submit("slow", false);
  wait_for(id, "running");
  EXPECT_THAT(complaint("model.rm", {{"model", "digits"}, {"whole", true}}),
              ::testing::HasSubstr("job 2 of model \"digits\" has not ended"));
  EXPECT_EQ(version()["version"], 2);
  call("job.cancel", {{"id", id}});
  wait_for(id, "cancelled");
  EXPECT_EQ(error_of("model.rm", {{"model", "digits"}, {"whole", true}}), "none");
}

TEST_F(WholeModel, IsMeantInSoManyWords) {
  for (const Json& params : {Json{{"model", "digits"}}, Json{{"model", "digits"}, {"whole", false}},
                             Json{{"model", "digits"}, {"version", 1}, {"whole", true}}})
    EXPECT_EQ(error_of("model.rm", params), "invalid_argument") << params;
  EXPECT_EQ(version()["version"], 2);
}

}  // namespace
}  // namespace moil::daemon::test
