#include "daemon/ctl/device/status_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/ctl/jobs/event_text.h"

namespace moil::daemon::ctl::test {
namespace {

Json night() {
  return {{"job", 12},
          {"name", "tonight"},
          {"model", "kitchen"},
          {"schedule", nullptr},
          {"state", "succeeded"},
          {"message", ""},
          {"finished_at", "2026-11-21T03:15:00Z"},
          {"seconds", 2520.0},
          {"version", 7},
          {"in_service", true},
          {"metric", "accuracy"},
          {"is_fraction", true},
          {"global_before", 0.93},
          {"global_after", 0.93},
          {"local_before", 0.71},
          {"local_after", 0.88}};
}

Json status() {
  return {
      {"version", "1"},
      {"pid", 5},
      {"uptime_seconds", 60},
      {"state_dir", "/s"},
      {"running", nullptr},
      {"queued", 0},
      {"held", nullptr},
      {"window", {{"start", "01:00"}, {"end", "06:00"}, {"open", true}, {"reason", ""}}},
      {"device",
       {{"on_mains", true}, {"battery", nullptr}, {"load_per_cpu", 0.12}, {"temperature_c", 47}}}};
}

Json overview() {
  return {{"running", nullptr},    {"waiting", Json::array()},     {"waiting_count", 0},
          {"last_night", night()}, {"next_nights", Json::array()}, {"attention", Json::array()}};
}

std::string text(const Rows& rows) {
  std::string out;
  for (const auto& row : rows) out += row[0] + "|" + row[1] + "\n";
  return out;
}

TEST(NightSentence, TellsWhatWasGained) {
  EXPECT_EQ(night_sentence(night()),
            "job 12 personalized kitchen: local 71.0% -> 88.0%, global 93.0% -> 93.0%, "
            "42 min 00 s; in service as version 7");
}

TEST(NightSentence, TellsWhyNothingWas) {
  Json kept = night();
  kept["state"] = "rejected-by-guard";
  kept["message"] = "global accuracy lost";
  EXPECT_THAT(night_sentence(kept), ::testing::EndsWith("; kept back: global accuracy lost"));
  Json failed = night();
  failed["state"] = "failed";
  failed["message"] = "the pack\x1b[2J is gone";
  EXPECT_EQ(night_sentence(failed), "job 12 of model kitchen failed: the pack?[2J is gone");
  Json back = night();
  back["in_service"] = false;
  EXPECT_THAT(night_sentence(back), ::testing::EndsWith("; version 7, which is not in service"));
}

TEST(StatusRows, ADeviceAtRest) {
  const std::string shown = text(status_rows(status(), overview()));
  for (const char* line :
       {"running|nothing\n", "waiting|nothing\n", "last night|job 12 ", "next night|no schedule",
        "window|01:00-06:00, open\n", "device|mains yes, load 0.12, temperature 47 C\n"})
    EXPECT_THAT(shown, ::testing::HasSubstr(line));
  EXPECT_THAT(shown, ::testing::Not(::testing::HasSubstr("ATTENTION")));
}

TEST(StatusRows, ANightAtWork) {
  Json seen = overview();
  seen["running"] = {{"job", 13},        {"name", "n"},  {"model", "m"},
                     {"stage", "train"}, {"done", 2},    {"total", 5},
                     {"epoch", 3},       {"epochs", 20}, {"seconds_left", 750.0}};
  seen["waiting"] = {{{"job", 14}, {"name", "w"}, {"model", "m"}, {"for", "job 13, which runs"}}};
  seen["waiting_count"] = 4;
  seen["next_nights"] = {
      {{"schedule", "s"}, {"model", "m"}, {"at", "T"}, {"seconds", 60}, {"why_not", "x"}}};
  seen["attention"] = {"schedule s: its last job failed"};
  const std::string shown = text(status_rows(status(), seen));
  for (const char* line :
       {"running|job 13 n (model m): train, epoch 3 of 20, 40.0% of it, 12 min 30 s left\n",
        "waiting|job 14 w (model m), for: job 13, which runs\n", "|and 3 more",
        "next night|s (model m), T, takes about 1 min 00 s; x\n",
        "ATTENTION|schedule s: its last job failed\n"})
    EXPECT_THAT(shown, ::testing::HasSubstr(line));
}

TEST(StatusRows, AnOpenWindowInWhichJobsWaitIsOpen) {
  const auto shown = [](const Json& changes) {
    Json seen = status();
    seen["window"].update(changes);
    return text(status_rows(seen, overview()));
  };
  const Json busy{{"start", "00:00"},
                  {"end", "00:00"},
                  {"open", false},
                  {"reason", "the device is busy"},
                  {"obstacle", "load"}};
  EXPECT_THAT(shown(busy),
              ::testing::HasSubstr("window|all day, open; waiting: the device is busy\n"));
  const Json shut{{"open", false},
                  {"reason", "outside the window 01:00-06:00"},
                  {"obstacle", "window"},
                  {"next_at", "T"}};
  const std::string closed = "window|01:00-06:00, closed: outside the window 01:00-06:00";
  EXPECT_THAT(shown(shut), ::testing::HasSubstr(closed + "; opens next at T\n"));
  EXPECT_THAT(shown({{"open", false}, {"reason", "r"}}),
              ::testing::HasSubstr("window|01:00-06:00, closed: r\n"))
      << "an older daemon does not say what stands in the way";
}

TEST(StatusRows, AnOlderDaemonHasNoOverview) {
  Json old = status();
  old["running"] = 3;
  EXPECT_THAT(text(status_rows(old, nullptr)), ::testing::HasSubstr("running|job 3\nwaiting|0\n"));
}

TEST(EventText, SaysWhatEachKindSays) {
  EXPECT_EQ(event_text({{"event", "stage"}, {"stage", "mix"}}), "stage mix");
  EXPECT_EQ(event_text({{"event", "note"}, {"message", "m"}}), "m");
  EXPECT_EQ(event_text({{"event", "state"}, {"state", "failed"}, {"message", "why"}}),
            "failed: why");
  EXPECT_EQ(event_text({{"event", "curve"}, {"epoch", 1}, {"loss", 0.5}, {"global", 0.9}}),
            "epoch 1  loss 0.5000  global 90.0%");
}

}  // namespace
}  // namespace moil::daemon::ctl::test
