// Statements that are kept for the next of the same text do not differ from fresh ones.
#include "base/sqlite/database.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"

namespace moil {
namespace {

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() {
    db_.run("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x')");
  }
  ~DatabaseTest() override { std::filesystem::remove(path_); }

  std::filesystem::path path_ = std::filesystem::path(::testing::TempDir()) /
                                (std::string("database_test_") +
                                 ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Database db_{path_, Database::Access::kReadWrite};
};

constexpr const char* kWhere = "SELECT b FROM t WHERE a = ?";

TEST_F(DatabaseTest, AStatementKnowsNothingOfWhatWasBoundBefore) {
  EXPECT_TRUE(Statement(db_, kWhere).bind(std::int64_t{1}).step());
  EXPECT_FALSE(Statement(db_, kWhere).step()) << "nothing is bound";
  Statement again(db_, kWhere);
  ASSERT_TRUE(again.bind(std::int64_t{1}).step());
  EXPECT_EQ(again.text(0), "x");
}

TEST_F(DatabaseTest, TwoOfATextLiveSideBySide) {
  db_.run("INSERT INTO t VALUES (2, 'y')");
  constexpr const char* kAll = "SELECT a FROM t ORDER BY a";
  Statement(db_, kAll).run();
  Statement outer(db_, kAll);
  int rows = 0;
  while (outer.step()) {
    Statement inner(db_, kAll);
    while (inner.step()) ++rows;
  }
  EXPECT_EQ(rows, 4);
}

TEST_F(DatabaseTest, OneThatWasLeftInTheMiddleHoldsNothing) {
  db_.run("INSERT INTO t VALUES (2, 'y')");
  EXPECT_TRUE(Statement(db_, "SELECT a FROM t").step());
  db_.run(
      "DROP TABLE t; CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c TEXT); INSERT INTO t VALUES "
      "(7, 'z', 'c')");
  Statement after(db_, "SELECT a FROM t");
  ASSERT_TRUE(after.step());
  EXPECT_EQ(after.integer(0), 7);
}

TEST_F(DatabaseTest, OneThatFailedCanBeTriedAgain) {
  constexpr const char* kInsert = "INSERT INTO t VALUES (?, 'x')";
  EXPECT_THROW(Statement(db_, kInsert).bind(std::int64_t{1}).run(), Error);
  EXPECT_NO_THROW(Statement(db_, kInsert).bind(std::int64_t{2}).run());
}

TEST_F(DatabaseTest, APragmaIsAskedAnew) {
  EXPECT_GT(db_.number("PRAGMA busy_timeout"), 0);
  sqlite3_busy_timeout(db_.handle(), 17);
  EXPECT_EQ(db_.number("PRAGMA busy_timeout"), 17);
}

}  // namespace
}  // namespace moil
