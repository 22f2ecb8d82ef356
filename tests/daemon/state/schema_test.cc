#include "daemon/state/schema.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {
namespace {

class Schema : public ::testing::Test {
 protected:
  Database open() const { return {folder_ / "moild.db", Database::Access::kReadWrite}; }
  TempFolder folder_;
};

TEST_F(Schema, AFreshFileIsBroughtToTheLatestVersion) {
  Database database = open();
  EXPECT_EQ(database.number("PRAGMA user_version"), 0);
  prepare_database(database);
  EXPECT_EQ(database.number("PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(database.number("PRAGMA synchronous"), 2);  // FULL
  EXPECT_EQ(database.number("PRAGMA foreign_keys"), 1);
  EXPECT_EQ(database.number("SELECT count(*) FROM jobs"), 0);
}

TEST_F(Schema, PreparingAgainKeepsTheData) {
  {
    Database database = open();
    prepare_database(database);
    database.run(
        "INSERT INTO jobs (name, model, spec, state, ignore_window, submitted_at) "
        "VALUES ('n', 'm', '{}', 'queued', 0, 0)");
  }
  Database database = open();
  prepare_database(database);
  EXPECT_EQ(database.number("SELECT count(*) FROM jobs"), 1);
}

TEST_F(Schema, AMigrationThatFailsLeavesTheDataAsTheyWere) {
  Database database = open();
  database.run("CREATE TABLE versions (mine TEXT); INSERT INTO versions VALUES ('kept')");
  EXPECT_THROW(prepare_database(database), Error);
  EXPECT_EQ(database.number("PRAGMA user_version"), 0);
  EXPECT_EQ(database.number("SELECT count(*) FROM versions WHERE mine = 'kept'"), 1);
  EXPECT_EQ(database.number("SELECT count(*) FROM sqlite_master WHERE name = 'jobs'"), 0);
}

// A package of an older moild looks there before it is installed, while this one runs.
TEST_F(Schema, TheHeaderOfTheFileTellsTheVersionAtOnce) {
  Database database = open();
  prepare_database(database);
  std::ifstream file(folder_ / "moild.db", std::ios::binary);
  file.seekg(60);  // a big-endian number, by SQLite's format
  char version[4] = {};
  file.read(version, sizeof version);
  EXPECT_EQ(std::string(version, 4), std::string({0, 0, 0, char{kSchemaVersion}}));
}

TEST_F(Schema, OnlyOneVersionOfAModelIsActive) {
  Database database = open();
  prepare_database(database);
  const char* insert =
      "INSERT INTO versions (model, version, state, active, created_at) "
      "VALUES ('m', (SELECT 1 + count(*) FROM versions), 'ready', 1, 0)";
  database.run(insert);
  EXPECT_THROW(database.run(insert), Error);
  EXPECT_THROW(database.run("UPDATE versions SET state = 'incoming'"), Error);
}

}  // namespace
}  // namespace moil::daemon::test
