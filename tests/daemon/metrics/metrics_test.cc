// What Prometheus is told: the text's syntax, by rules of our own after its exposition format and
// promtool's, and its figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/files/file.h"
#include "daemon/metrics/prometheus_text.h"
#include "tests/daemon/support/server_test.h"

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A reader of the text format, which complains of all that promtool would.
class Exposition {
 public:
  explicit Exposition(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ++number_;
      line.starts_with("# ") ? comment(line) : sample(line);
    }
    if (!text.empty() && !text.ends_with('\n')) complain("the last line does not end");
  }

  const std::vector<std::string>& complaints() const { return complaints_; }
  // "moild_jobs{state=\"queued\"}" -> value
  const std::map<std::string, double>& samples() const { return samples_; }

 private:
  void comment(const std::string& line) {
    static const std::regex form(R"(# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+))");
    std::smatch found;
    if (!std::regex_match(line, found, form)) return complain("no comment of either kind: " + line);
    const std::string name = found[2];
    if (found[1] == "HELP") {
      if (!helped_.insert(name).second) complain("two helps of " + name);
      family_ = name;
      type_.clear();
      return;
    }
    if (name != family_) complain("the type of " + name + " does not follow its help");
    type_ = found[3];
    static const std::set<std::string> known = {"gauge", "counter", "summary"};
    if (!known.contains(type_)) complain("unknown type " + type_);
    if ((type_ == "counter") != name.ends_with("_total"))
      complain(name + ": counters, and they alone, end in _total");
    for (const char* unit : {"milliseconds", "minutes", "kilobytes", "percent", "celcius"})
      if (name.find(unit) != std::string::npos) complain(name + " is not in a base unit");
  }

  void sample(const std::string& line) {
    static const std::regex form(
        R"(([a-z_:][a-z0-9_:]*)(\{[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\[\\"n])*")*\})? (\S+))");
    std::smatch found;
    if (!std::regex_match(line, found, form)) return complain("no sample: " + line);
    const std::string name = found[1];
    const bool part =
        type_ == "summary" && (name == family_ + "_sum" || name == family_ + "_count");
    if (name != family_ && !part) complain(name + " stands in the family " + family_);
    if (type_.empty()) complain(name + " has no type");
    std::size_t read = 0;
    const double value = std::stod(found[3], &read);
    if (read != std::string(found[3]).size()) complain("no number: " + line);
    if (!samples_.emplace(name + found[2].str(), value).second) complain("twice: " + line);
  }

  void complain(const std::string& what) {
    complaints_.push_back("line " + std::to_string(number_) + ": " + what);
  }

  int number_ = 0;
  std::string family_, type_;
  std::set<std::string> helped_;
  std::map<std::string, double> samples_;
  std::vector<std::string> complaints_;
};

TEST(PrometheusText, EscapesWhatWouldEndALabelOrALine) {
  PrometheusText out;
  out.family("a_thing", PrometheusText::Type::kGauge, "One \\ of\ntwo.");
  out.sample(1.5, {{"name", "say \"no\"\\\n"}, {"other", "b"}});
  EXPECT_EQ(out.text(),
            "# HELP a_thing One \\\\ of\\ntwo.\n# TYPE a_thing gauge\n"
            "a_thing{name=\"say \\\"no\\\"\\\\\\n\",other=\"b\"} 1.5\n");
  EXPECT_THAT(Exposition(out.text()).complaints(), IsEmpty());
}

TEST(PrometheusText, TheReaderOfTheseTestsFindsFaults) {
  for (const char* text :
       {"a 1\n", "# HELP a x\n# TYPE a counter\na 1\n", "# HELP a x\na 1\n",
        "# HELP a x\n# TYPE a gauge\nb 1\n", "# HELP a x\n# TYPE a gauge\na one\n",
        "# HELP a x\n# TYPE a gauge\na{b=\"c} 1\n", "# HELP a x\n# TYPE a gauge\na 1\na 1\n",
        "# HELP a_percent x\n# TYPE a_percent gauge\na_percent 1\n",
        "# HELP a x\n# TYPE a gauge\na 1"}) {
    bool found = false;
    try {
      found = !Exposition(text).complaints().empty();
    } catch (const std::exception&) {  // of stod
      found = true;
    }
    EXPECT_TRUE(found) << text;
  }
}

class Metrics : public ServerTest {
 protected:
  std::string text() const { return call("system.metrics")["text"]; }
  std::map<std::string, double> read() const {
    const Exposition read(text());
    EXPECT_THAT(read.complaints(), IsEmpty());
    return read.samples();
  }
};

TEST_F(Metrics, AnEmptyMoildHasFiguresInGoodForm) {
  const auto samples = read();
  EXPECT_EQ(samples.at("moild_jobs{state=\"queued\"}"), 0);
  EXPECT_EQ(samples.at("moild_nights_total{outcome=\"succeeded\"}"), 0);
  EXPECT_EQ(samples.at("moild_window_open"), 1);
  EXPECT_EQ(samples.at("moild_queue_held"), 0);
  EXPECT_EQ(samples.at("moild_cache_usable"), 1);
  EXPECT_GT(samples.at("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(samples.at("moild_disk_bytes{part=\"database\"}"), 0);
  EXPECT_DOUBLE_EQ(samples.at("moild_device_battery_ratio"), 0.9);
}

TEST_F(Metrics, NightsWorkersModelsAndRequestsAreCounted) {
  import_model(server_);
  run_job("night");
  run_job("crash-once");
  run_job("bad-data", "failed");
  run_job("reject", "rejected-by-guard");
  ask("job.get", {{"id", 99}});
  ask("no.such\nmethod");
  const auto samples = read();
  EXPECT_EQ(samples.at("moild_jobs{state=\"succeeded\"}"), 2);
  EXPECT_EQ(samples.at("moild_nights_total{outcome=\"succeeded\"}"), 2);
  EXPECT_EQ(samples.at("moild_nights_total{outcome=\"failed\"}"), 1);
  EXPECT_EQ(samples.at("moild_nights_total{outcome=\"rejected-by-guard\"}"), 1);
  EXPECT_EQ(samples.at("moild_worker_ends_total{how=\"died\"}"), 1);
  EXPECT_EQ(samples.at("moild_worker_ends_total{how=\"refused\"}"), 1);
  EXPECT_EQ(samples.at("moild_worker_ends_total{how=\"result\"}"), 3);
  EXPECT_EQ(samples.at("moild_model_versions{model=\"digits\"}"), 3);
  EXPECT_EQ(samples.at("moild_model_active_version{model=\"digits\"}"), 3);
  EXPECT_EQ(samples.at("moild_last_night_promoted{model=\"digits\"}"), 0);
  EXPECT_DOUBLE_EQ(samples.at("moild_last_night_quality{model=\"digits\",metric=\"accuracy\","
                              "data=\"local\",when=\"after\"}"),
                   0.98);
  EXPECT_EQ(samples.at("moild_request_errors_total{method=\"job.get\",code=\"not_found\"}"), 1);
  EXPECT_EQ(samples.at("moild_request_errors_total{method=\"unknown\",code=\"unimplemented\"}"), 1);
  EXPECT_EQ(samples.at("moild_request_duration_seconds_count{method=\"job.submit\"}"), 4);
}

TEST_F(Metrics, EveryFigureIsOnThePage) {
  const std::string page = read_text(PROJECT_SOURCE_DIR "/docs/operations.md");
  std::istringstream lines(text());
  int families = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    ++families;
    const std::string name = line.substr(7, line.find(' ', 7) - 7);
    EXPECT_TRUE(page.find("`" + name + "`") != std::string::npos ||
                page.find("`" + name + "{") != std::string::npos)
        << name;
  }
  EXPECT_GT(families, 25);
}

TEST_F(Metrics, LabelsAreCountedAndNotNamed) {
  call("label.add", {{"labels", {"my secret cat"}}, {"samples", {{{"content", "/9j/c2V2ZW4="}}}}});
  EXPECT_THAT(text(), ::testing::Not(HasSubstr("secret")));
  EXPECT_EQ(read().at("moild_labels"), 1);
  EXPECT_EQ(read().at("moild_samples"), 1);
}

TEST(MetricsFile, IsWrittenWholeAndForOthersToRead) {
  const TempFolder folder;
  Config config = quick_config();
  config.metrics.textfile = (folder / "moild.prom").string();
  const TestServer server(folder / "state", config);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "moild.prom"); }));
  EXPECT_THAT(Exposition(read_text(folder / "moild.prom")).complaints(), IsEmpty());
  struct stat info {};
  ASSERT_EQ(::stat((folder / "moild.prom").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0644U);
  EXPECT_FALSE(std::filesystem::exists(folder / "moild.prom.new"));
}

TEST(MetricsFile, ItsNameIsChecked) {
  for (const char* wrong : {"moild.prom", "/var/moild.txt"}) {
    try {
      (void)parse_config(R"({"metrics": {"textfile": ")" + std::string(wrong) + R"("}})", "m.json");
      ADD_FAILURE() << wrong;
    } catch (const ValidationError& error) {
      EXPECT_THAT(error.what(), HasSubstr("an absolute path that ends in \".prom\""));
    }
  }
}

}  // namespace
}  // namespace moil::daemon::test
