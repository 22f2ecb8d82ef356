// docs/protocol.md and docs/job.md against the code: every example is replayed against a server,
// every method and every field is documented, with its default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "base/files/file.h"
#include "tests/daemon/support/test_server.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

using Example = std::vector<std::string>;  // lines "-> ..." and "<- ..."

fs::path page(const std::string& name) { return fs::path(PROJECT_SOURCE_DIR) / "docs" / name; }

std::vector<std::string> lines_of_page(const std::string& name) {
  std::ifstream in(page(name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<Example> examples() {
  std::vector<Example> out;
  bool inside = false;
  for (const std::string& line : lines_of_page("protocol.md")) {
    if (line == "```example") out.emplace_back();
    if (inside && line != "```") out.back().push_back(line);
    inside = line == "```example" || (inside && line != "```");
  }
  return out;
}

// "..." matches anything; all else must be equal, and have the same members.
bool matches(const Json& expected, const Json& found) {
  if (expected == "...") return true;
  if (expected.is_object() && found.is_object() && expected.size() == found.size()) {
    for (const auto& [name, value] : expected.items()) {
      if (!found.contains(name) || !matches(value, found[name])) return false;
    }
    return true;
  }
  if (expected.is_array() && found.is_array() && expected.size() == found.size()) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!matches(expected[i], found[i])) return false;
    }
    return true;
  }
  return expected == found;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Replays at noon; a watched job gets its night while its pushes are read.
class Replay {
 public:
  Replay() {
    server_.world.minute = 720;
    for (const char* folder : {"models/digits", "models/none", "packs/digits"}) {
      fs::create_directories(folder_ / folder);
    }
    std::ofstream(folder_ / "models/digits/model.json") << "{}";
  }

  void run(const Example& example) {
    Line line(server_.socket());
    bool watching = false;
    for (const std::string& text : example) {
      const std::string content = replaced(text.substr(3), "/srv/", folder_.path().string() + "/");
      if (text.starts_with("-> ")) {
        line.send(content + "\n");
        watching = content.find("\"job.watch\"") != std::string::npos;
        continue;
      }
      const Json expected = parsed_json(content);
      const Json found = line.read();
      EXPECT_TRUE(matches(expected, found)) << "expected " << content << "\nfound    " << found;
      if (watching) server_.world.minute = 180;
    }
    if (!watching) return;
    wait_for(server_.socket(), 1, "succeeded");
    server_.world.minute = 720;
  }

 private:
  TempFolder folder_;
  TestServer server_{folder_ / "state"};
};

TEST(ProtocolPage, EveryExampleHolds) {
  Replay replay;
  const auto all = examples();
  EXPECT_GT(all.size(), 20U);
  for (const Example& example : all) {
    ASSERT_FALSE(example.empty());
    SCOPED_TRACE(example.front());
    replay.run(example);
  }
}

TEST(ProtocolPage, EveryMethodHasItsSectionSinceAndExample) {
  const TempFolder folder;
  const TestServer server(folder / "state");
  std::map<std::string, std::string> since;  // of the daemon's methods
  const Json reply = result_of(server.socket(), "system.methods");
  for (const Json& method : reply["methods"]) since[method["name"]] = method["since"];

  std::map<std::string, std::string> documented;
  std::string section;
  for (const std::string& line : lines_of_page("protocol.md")) {
    if (line.starts_with("#")) section = line.starts_with("### ") ? line.substr(4) : "";
    if (!section.empty() && line.starts_with("Since ")) documented[section] = line.substr(6, 3);
  }
  EXPECT_EQ(documented, since);

  std::set<std::string> exemplified;
  for (const Example& example : examples()) {
    for (const std::string& line : example) {
      const Json request = json_or_discarded(line.substr(3));
      if (line.starts_with("-> ") && request.is_object()) exemplified.insert(request["method"]);
    }
  }
  for (const auto& [name, ignored] : since) EXPECT_TRUE(exemplified.contains(name)) << name;
}

TEST(ProtocolPage, EveryParameterIsInTheSectionOfItsMethod) {
  const TempFolder folder;
  const TestServer server(folder / "state");
  std::map<std::string, std::string> sections;
  std::string section;
  for (const std::string& line : lines_of_page("protocol.md")) {
    if (line.starts_with("#")) section = line.starts_with("### ") ? line.substr(4) : "";
    sections[section] += line + "\n";
  }
  std::map<std::string, Json> params;
  const Json reply = result_of(server.socket(), "system.methods");
  for (const Json& method : reply["methods"]) {
    const std::string name = method["name"];
    params[name] = method["params"];
    for (const auto& [param, schema] : method["params"]["properties"].items()) {
      if (param == "after") continue;  // of "next", which all pages have
      const std::string& text = sections[name];
      EXPECT_TRUE(text.find("`" + param + "`") != std::string::npos ||
                  text.find("\"" + param + "\"") != std::string::npos)
          << name << ": " << param;
    }
  }
  for (const Example& example : examples()) {
    const Json request = json_or_discarded(example[0].substr(3));
    if (!request.is_object() || example.size() < 2 ||
        example[1].find("\"error\"") != std::string::npos)
      continue;
    const Json given = request.value("params", Json::object());
    const Json& asked = params[request["method"]];
    for (const Json& needed : asked["required"])
      EXPECT_TRUE(given.contains(needed.get<std::string>())) << request << needed;
    for (const auto& [name, value] : given.items())
      EXPECT_TRUE(asked["properties"].contains(name)) << request << name;
  }
}

TEST(ProtocolPage, EveryFieldOfAJobIsOnItsPageWithItsDefault) {
  std::map<std::string, std::string> documented;
  for (const std::string& line : lines_of_page("job.md")) {
    if (!line.starts_with("| `/")) continue;
    const std::size_t end = line.find('`', 3);
    const std::size_t bar = line.find(" | ", end + 4);
    documented[line.substr(3, end - 3)] = line.substr(end + 4, bar - end - 4);
  }
  std::map<std::string, std::string> fields;
  const Json defaults = to_json(JobSpec()).flatten();
  for (const auto& [pointer, value] : defaults.items()) fields[pointer] = value.dump();
  for (const char* required : {"/name", "/model", "/global/pack"}) fields[required] = "required";
  EXPECT_EQ(documented, fields);
}

TEST(ProtocolPage, TheExampleOfAJobIsValid) {
  const std::string text = read_text(page("job.md"));
  const std::size_t begin = text.find("```json\n") + 8;
  const std::size_t end = text.find("```", begin);
  EXPECT_NO_THROW((void)job_spec_from_json(parsed_json(text.substr(begin, end - begin))));
}

}  // namespace
}  // namespace moil::daemon::test
