#include "daemon/night/data/build_record.h"

#include "base/files/file.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

class BuildRecords : public ::testing::Test {
 protected:
  TempFolder temp_;
  const BuildRecord record_{temp_ / "profiles" / "record.json"};
};

TEST_F(BuildRecords, KeepObjectsByKey) {
  EXPECT_TRUE(record_.find("a").empty());
  record_.keep("a", {{"n", 1}}, 9);
  record_.keep("b", {{"n", 2}}, 9);
  record_.keep("a", {{"n", 3}}, 9);
  EXPECT_EQ(record_.find("a"), Json({{"n", 3}}));
  EXPECT_EQ(record_.find("b"), Json({{"n", 2}}));
  record_.forget("a");
  record_.forget("never kept");
  EXPECT_TRUE(record_.find("a").empty());
  EXPECT_FALSE(record_.find("b").empty());
}

TEST_F(BuildRecords, KeepNoMoreThanTheLatest) {
  for (int n = 0; n < 5; ++n) record_.keep(std::to_string(n), {{"n", n}}, 3);
  record_.keep("2", {{"n", 7}}, 3);
  record_.keep("5", {{"n", 5}}, 3);
  for (const auto& [key, is_there] : std::map<std::string, bool>{
           {"1", false}, {"2", true}, {"3", false}, {"4", true}, {"5", true}})
    EXPECT_EQ(!record_.find(key).empty(), is_there) << key;
}

TEST_F(BuildRecords, AnEntryOfAnotherFormIsAsIfItWereNotThere) {
  for (const Json& entries : std::vector<Json>{7,
                                               {{"key", "a"}},
                                               Json::array({1, Json::object()}),
                                               Json::array({{{"key", "a"}, {"object", 3}}})}) {
    record_.save({{"entries", entries}});
    EXPECT_TRUE(record_.find("a").empty()) << entries;
    record_.keep("a", {{"n", 1}}, 3);
    EXPECT_EQ(record_.find("a"), Json({{"n", 1}})) << entries;
  }
}

}  // namespace
}  // namespace moil::night
