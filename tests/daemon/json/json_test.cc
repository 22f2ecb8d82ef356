#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/config/config.h"
#include "daemon/json/nearest.h"
#include "daemon/json/parse.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::daemon {
namespace {

TEST(Nesting, CountsOnlyWhatIsOutsideStrings) {
  EXPECT_FALSE(nests_deeper_than("[[[]]]", 3));
  EXPECT_TRUE(nests_deeper_than("[[[]]]", 2));
  EXPECT_FALSE(nests_deeper_than(R"(["[[[[", "\"[[[["])", 1));
  EXPECT_FALSE(nests_deeper_than(R"([{}, {}, [], []])", 2));
  EXPECT_FALSE(nests_deeper_than("\"never closed [[[[[", 0));
}

TEST(ParseJson, SaysWhere) {
  try {
    (void)parse_json("{\n  \"a\": 1,\n  oops\n}", 8);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("line 3"));
  }
  EXPECT_THROW((void)parse_json("{} // comment", 8), Error);
  EXPECT_NO_THROW((void)parse_json("{} // comment", 8, Comments::kAllowed));
}

TEST(LinesOf, FollowsObjectsListsStringsAndComments) {
  const auto lines = lines_of(
      "{ // {\"not\": 1}\n"
      "  \"a\": {\"b\": \"x{\\\"\"},\n"
      "  /* \"nor\":\n 2 */ \"list\": [1,\n"
      "    {\"c/d\": 3}],\n"
      "  \"last\": true\n"
      "}\n");
  EXPECT_EQ(lines.at("/a"), 2);
  EXPECT_EQ(lines.at("/a/b"), 2);
  EXPECT_EQ(lines.at("/list"), 4);
  EXPECT_EQ(lines.at("/list/0"), 4);
  EXPECT_EQ(lines.at("/list/1/c~1d"), 5);
  EXPECT_EQ(lines.at("/last"), 6);
  EXPECT_FALSE(lines.contains("/not"));
  EXPECT_FALSE(lines.contains("/nor"));
}

TEST(Nearest, SuggestsOnlyWhatIsClose) {
  const std::vector<std::string> known = {"epochs", "batch", "optimizer"};
  EXPECT_EQ(nearest("epocs", known), "epochs");
  EXPECT_EQ(nearest("EPOCHS", known), "epochs");
  EXPECT_EQ(nearest("optimiser", known), "optimizer");
  EXPECT_EQ(nearest("quux", known), "");
  EXPECT_EQ(nearest(std::string(1000, 'e'), known), "");
}

TEST(ConfigFile, EmptyIsTheDefaultsAndRoundTrips) {
  const Config config = parse_config("{}", "moild.json");
  EXPECT_EQ(config.window.start.minute, 60);
  EXPECT_EQ(to_json(parse_config(to_json(config).dump(), "moild.json")), to_json(config));
}

TEST(ConfigFile, TimesAreChecked) {
  EXPECT_THROW((void)parse_config(R"({"window": {"start": "25:00"}})", "f"), ValidationError);
  EXPECT_EQ(parse_config(R"({"window": {"end": "05:30"}})", "f").window.end.minute, 330);
}

TEST(JobFileDocument, RoundTrip) {
  JobFile file;
  file.id = 7;
  file.base_version = 1;
  file.version = 2;
  file.threads = 3;
  file.cache_quota_bytes = 1 << 20;
  file.spec.name = "tonight";
  file.spec.model = "digits";
  file.spec.global.pack = "/pack";
  const JobFile back = job_file_from_json(to_json(file));
  EXPECT_EQ(back.spec, file.spec);
  EXPECT_EQ(back.version, 2);
  EXPECT_EQ(back.threads, 3);
  EXPECT_EQ(back.cache_quota_bytes, 1 << 20);

  Json earlier = to_json(file);
  earlier["spec"]["train"]["sampling"] = "importance";
  EXPECT_EQ(to_json(job_file_from_json(earlier)), to_json(file)) << "of an earlier build";
  earlier["fields"] = 1;
  EXPECT_THROW((void)job_file_from_json(earlier), ValidationError);
}

}  // namespace
}  // namespace moil::daemon
