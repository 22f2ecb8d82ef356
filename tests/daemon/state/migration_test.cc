// State databases as earlier versions of moild left them (tests/daemon/fixtures, kept by
// scripts/state-fixture) open with everything that was in them.
#include <gtest/gtest.h>

#include <map>

#include "base/files/file.h"
#include "daemon/state/job_store.h"
#include "daemon/state/schedule_store.h"
#include "daemon/state/schema.h"
#include "tests/daemon/support/test_server.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

fs::path fixture(int version) {
  return fs::path(PROJECT_SOURCE_DIR) / "tests/daemon/fixtures" /
         ("state-" + std::to_string(version) + ".sql");
}

std::vector<std::string> texts(const Database& database, const std::string& sql) {
  std::vector<std::string> out;
  Statement rows(database, sql);
  while (rows.step()) out.push_back(rows.text(0));
  return out;
}

// Each table's query that reads all of its columns in a fixed order.
std::map<std::string, std::string> readers(const Database& database) {
  std::map<std::string, std::string> out;
  for (const std::string& table :
       texts(database, "SELECT name FROM sqlite_master WHERE type = 'table'")) {
    std::string row;
    for (const std::string& column :
         texts(database, "SELECT name FROM pragma_table_info('" + table + "')"))
      row += (row.empty() ? "" : " || ', ' || ") + ("quote(" + column + ")");
    out[table] = "SELECT " + row + " FROM " + table + " ORDER BY 1";
  }
  return out;
}

// A fixture in a file, opened; the parameter is its version.
class Migration : public ::testing::TestWithParam<int> {
 protected:
  Migration() { database_.run(read_text(fixture(GetParam())).c_str()); }

  TempFolder folder_;
  Database database_{folder_ / "moild.db", Database::Access::kReadWrite};
};

TEST_P(Migration, LosesNothing) {
  ASSERT_EQ(database_.number("PRAGMA user_version"), GetParam());
  std::map<std::string, std::vector<std::string>> before;
  const auto queries = readers(database_);
  for (const auto& [table, query] : queries) {
    before[table] = texts(database_, query);
    EXPECT_FALSE(before[table].empty()) << "the fixture has no rows of the table " << table;
  }
  prepare_database(database_);
  EXPECT_EQ(database_.number("PRAGMA user_version"), kSchemaVersion);
  for (const auto& [table, query] : queries) EXPECT_EQ(texts(database_, query), before[table]);
  EXPECT_EQ(texts(database_, "PRAGMA integrity_check"), std::vector<std::string>{"ok"});
  EXPECT_TRUE(texts(database_, "PRAGMA foreign_key_check").empty());
}

TEST_P(Migration, LeavesTheTablesOfAFreshState) {
  prepare_database(database_);
  Database fresh(folder_ / "fresh.db", Database::Access::kReadWrite);
  prepare_database(fresh);
  const char* tables = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name";
  EXPECT_EQ(texts(database_, tables), texts(fresh, tables));
}

TEST_P(Migration, LeavesWhatTheStoresRead) {
  prepare_database(database_);
  const StateLayout layout(folder_.path());
  ModelStore models(database_, layout);
  JobStore jobs(database_, models);
  const Job first = jobs.get(1);
  EXPECT_EQ(first.state, JobState::kSucceeded);
  EXPECT_EQ(first.spec.model, "pets");
  EXPECT_EQ(first.result["global_after"], 0.9);
  EXPECT_TRUE(first.result.contains("details"));
  EXPECT_EQ(jobs.count(JobState::kQueued), 1);
  std::vector<Job> listed;
  jobs.list(std::nullopt, 0, Details::kWithout, [&](const Job& job) {
    listed.push_back(job);
    return true;
  });
  ASSERT_EQ(listed.size(), 6U);
  EXPECT_EQ(listed[0].spec.name,
            "\xc3\x9c"
            "bung \"quoted\"; --");
  EXPECT_EQ(listed[5].result["local_after"], 0.97);
  EXPECT_FALSE(listed[5].result.contains("details"));
  EXPECT_EQ(models.active("pets").value().version, 2);
  EXPECT_EQ(models.get("pets", 2).parent, 1);
  EXPECT_EQ(models.anchor("pets", 1).version, 1);
  const ScheduleStore schedules(database_, jobs);
  EXPECT_EQ(schedules.all().size(), GetParam() < 6 ? 0U : 2U);
}

// The present version's own is there once scripts/state-fixture has made it.
INSTANTIATE_TEST_SUITE_P(Of, Migration,
                         ::testing::Range(1, kSchemaVersion +
                                                 (fs::exists(fixture(kSchemaVersion)) ? 1 : 0)));

TEST(MigrationFixtures, EveryEarlierVersionHasOne) {
  for (int version = 1; version < kSchemaVersion; ++version)
    EXPECT_TRUE(fs::exists(fixture(version))) << "see scripts/state-fixture: " << version;
}

}  // namespace
}  // namespace moil::daemon::test
