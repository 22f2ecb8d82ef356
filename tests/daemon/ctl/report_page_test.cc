#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/ctl/report_page/page.h"
#include "tests/daemon/ctl/support.h"

namespace moil::daemon::ctl {
namespace {

using test::count;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSeven = "0123456789abcdef0123456789abcdef";
constexpr const char* kForgotten = "ffffffffffffffffffffffffffffffff";

// As job.get has it, of a night that learned 7 and 8.
Json night() {
  return parsed_json(R"({
    "id": 12, "name": "night", "model": "digits", "base_version": 3, "version": 4, "attempts": 1,
    "state": "succeeded", "submitted_at": "2026-01-02T03:04:05Z", "started_at": "2026-01-02T03:05:00Z",
    "finished_at": "2026-01-02T03:06:30Z", "schedule": null, "spec": {"name": "night", "seed": 7},
    "result": {"promoted": true, "reason": "local accuracy gained", "metric": "accuracy",
      "is_fraction": true, "global_before": 0.97, "global_after": 0.96, "local_before": 0.1,
      "local_after": 0.98, "epochs": 3, "seconds": 90.0,
      "details": {
        "samples": {"global": 200, "local": 96, "global_validation": 50, "local_validation": 24},
        "curve": [{"epoch": 1, "seconds": 1, "loss": 1.2, "global": 0.95, "local": 0.6},
                  {"epoch": 2, "seconds": 2, "loss": 0.5, "global": 0.96, "local": 0.9},
                  {"epoch": 3, "seconds": 3, "loss": 0.3, "global": 0.96, "local": 0.97},
                  {"epoch": 4, "seconds": 4, "loss": 0.25, "global": 0.96, "local": 0.98}],
        "labels": [{"label": "1", "global": {"held_out": 10, "before": 10, "after": 8}, "local": null},
                   {"label": "7", "global": null, "local": {"held_out": 12, "before": 1, "after": 12}},
                   {"label": "8", "global": null, "local": {"held_out": 12, "before": 0, "after": 11}}],
        "confusion": {"labels": [{"label": "8", "held_out": 12, "right": 11},
                                 {"label": "7", "held_out": 12, "right": 12}],
                      "pairs": [{"label": "8", "said": "1", "count": 1}],
                      "more": {"labels": 0, "pairs": 0}},
        "changed": {"right_count": 30, "wrong_count": 1,
          "right": [{"digest": "0123456789abcdef0123456789abcdef", "label": "7", "before": "1", "after": "7"}],
          "wrong": [{"digest": "ffffffffffffffffffffffffffffffff", "label": "8", "before": "8", "after": null}]},
        "auto": {"why": "one layer is as good as three", "seconds": 41.5, "chosen": {"n": 1, "alpha": 0.05},
          "trials": [{"settings": {"n": 1, "alpha": 0.05}, "local": 0.87, "global": 0.739, "seconds": 3.1,
                      "samples": 500, "held": true, "why": ""},
                     {"settings": {"n": 3, "alpha": 0.05}, "local": 0.88, "global": 0.6, "seconds": 9.5,
                      "samples": 500, "held": false, "why": "forgets too much"}]},
        "stages": {"train": 60, "mix": 1, "cache": 20},
        "memory": {"predicted_bytes": 44040192, "measured_bytes": 41943040},
        "cache": {"computed": 7, "reused": 5, "feature_bytes": 4096},
        "method": "full", "freeze": {"trained_units": 1, "units": 9},
        "build": "0.1.0", "weights": "abcd",
        "data": {"local": {"samples": 96, "held_out": 24, "digest": "aa"},
                 "global": {"samples": 200, "held_out": 50, "digest": "bb"}}}}})");
}

Thumbnails thumbnails() {
  return {{kSeven, {"/9j/4AAQ", 64, 48, "pets/seven.jpg", ""}},
          {kForgotten, {"", 0, 0, "", "forgotten"}}};
}

TEST(ReportPage, TellsWhatWasLearnedAndWhatItCost) {
  const std::string page = draw_report_page(night(), thumbnails());
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  EXPECT_THAT(page,
              HasSubstr("Model <bdi>digits</bdi> learned <bdi>7</bdi> and <bdi>8</bdi> from 96 "
                        "samples in 1 min 30 s and 40.0 MiB of memory: local accuracy rose from "
                        "10.0% to 98.0%, global accuracy fell from 97.0% to 96.0%."));
  for (const char* words :
       {"version 4 promoted", "local accuracy gained", "epoch 4: 98.0%", "accuracy by epoch",
        "loss by epoch", "Became wrong: 1", "one layer is as good as three",
        "The trials took 41.50 s", "<b>chosen</b>", "not held: forgets too much", "n 3", "42.0 MiB",
        "96 trained on, 24 held out", "2026-01-02T03:05:00Z", "&quot;seed&quot;: 7"})
    EXPECT_THAT(page, HasSubstr(words));
  EXPECT_EQ(count(page, "<section>"), 7U);
  EXPECT_EQ(count(page, "<svg "), 2U);
}

// What the printed report names, the page names, too.
TEST(ReportPage, NamesWhatWasLeftOut) {
  Json job = night();
  EXPECT_THAT(draw_report_page(job, {}), Not(HasSubstr("What was left out")));
  Json& details = job["result"]["details"];
  details["left_out"] = {{{"name", "broken <1>.jpg"},
                          {"labels", {"7"}},
                          {"held_out", true},
                          {"why", "the file ends too early"}}};
  details["samples"]["left_out"] = 3;
  details["other_media"] = {{"audio/wav", 2}};
  const std::string page = draw_report_page(job, {});
  for (const char* words :
       {"What was left out", "3 unreadable samples", ">left out<", "broken &lt;1&gt;.jpg",
        "the file ends too early", "held out", "and 2 more", "audio/wav"})
    EXPECT_THAT(page, HasSubstr(words));
}

TEST(ReportPage, TellsTheEnergyIfItIsKnown) {
  Json job = night();
  EXPECT_THAT(draw_report_page(job, {}), Not(HasSubstr(">energy<")));  // of an older moild
  job["result"]["details"]["energy"] = {{"joules", 5312.4}, {"source", "processor package"}};
  EXPECT_THAT(draw_report_page(job, {}),
              HasSubstr("<span class=\"what\">energy</span><strong>5.3 kJ</strong>"
                        "<span class=\"beside\">processor package</span>"));
  job["result"]["details"]["energy"] = nullptr;
  EXPECT_THAT(draw_report_page(job, {}), Not(HasSubstr(">energy<")));
}

Json nights_of(std::initializer_list<double> local) {
  Json nights = Json::array();
  for (const double value : local)
    nights.push_back({{"job", nights.size() + 1},
                      {"at", "2026-11-0" + std::to_string(nights.size() + 1) + "T03:00:00Z"},
                      {"kept_back", nights.size() == 1},
                      {"local", value},
                      {"global", 0.97}});
  return nights;
}

TEST(ReportPage, AccuracyOverNightsIsTheFirstChart) {
  const std::string page = draw_report_page(night(), {}, nights_of({0.5, 0.5, 0.98}));
  EXPECT_THAT(page, HasSubstr("accuracy of the model in service after each of 3 nights"));
  EXPECT_THAT(page, HasSubstr("local, job 2, 2026-11-02, kept back: 50.0%"));
  EXPECT_THAT(page, HasSubstr(">night</text>"));
  const auto first = page.find("<svg ");
  EXPECT_EQ(page.find("accuracy over nights"), page.find("<title>", first) + 7);
  for (const Json& few : {nights_of({0.5}), Json::array(), Json(7)})
    EXPECT_THAT(draw_report_page(night(), {}, few), Not(HasSubstr("over nights")));
}

TEST(ReportPage, ALossCurveIsDrawnWhereItSaysSomething) {
  Json job = night();
  EXPECT_THAT(draw_report_page(job, {}), HasSubstr("loss by epoch"));
  Json& curve = job["result"]["details"]["curve"];
  for (Json& point : curve) point["loss"] = 0.5;
  EXPECT_THAT(draw_report_page(job, {}), Not(HasSubstr("loss by epoch"))) << "it is flat";
  curve = Json::array({{{"epoch", 1}, {"loss", 1.0}}, {{"epoch", 2}, {"loss", 0.5}}});
  EXPECT_THAT(draw_report_page(job, {}), Not(HasSubstr("How it learned"))) << "two points";
}

TEST(ReportPage, FewHeldOutSamplesGiveNoVerdict) {
  Json job = night();
  job["result"]["details"]["samples"]["local_validation"] = 1;
  const std::string page = draw_report_page(job, {});
  EXPECT_THAT(page, HasSubstr("local accuracy: 1 held out: no verdict"));
  EXPECT_THAT(page, HasSubstr("<strong>no verdict</strong><span class=\"beside\">1 held out"));
  EXPECT_THAT(page, HasSubstr("global accuracy fell")) << "of which enough are held out";
}

TEST(ReportPage, HasNoTileOrRowForWhatIsNotKnown) {
  Json job = night();
  Json& result = job["result"];
  result["global_after"] = nullptr;
  result["details"]["energy"] = nullptr;
  result["details"]["cache"].erase("feature_bytes");
  const std::string page = draw_report_page(job, {});
  for (const char* unknown : {">global accuracy<", ">energy<", "bytes of one", "not known"})
    EXPECT_THAT(page, Not(HasSubstr(unknown)));
}

// Wherever a number of the result is shown as it is.
TEST(ReportPage, NumbersAreAsPeopleWriteThem) {
  Json job = night();
  const double odd = 0.009999999999999998;
  job["spec"]["train"] = {{"learning_rate", odd}};
  Json& details = job["result"]["details"];
  details["auto"]["chosen"]["learning_rate"] = odd;
  for (Json& trial : details["auto"]["trials"]) trial["settings"]["learning_rate"] = odd;
  details["elastic"] = test::elastic_result(test::block_tensors(2), 2);
  details["elastic"]["rho"] = 0.30000000000000004;
  details["anchor"] = {{"version", 1}, {"global", 0.7400000000000001}};
  const std::string page = draw_report_page(job, {}, nights_of({1.0 / 3, 2.0 / 3}));
  EXPECT_THAT(page, HasSubstr("learning_rate 0.01"));
  EXPECT_THAT(page, HasSubstr("&quot;learning_rate&quot;: 0.01"));
  EXPECT_THAT(page, Not(::testing::ContainsRegex("[0-9][.][0-9]{7}")));
}

TEST(ReportPage, ShowsWhichSamplesChanged) {
  const std::string page = draw_report_page(night(), thumbnails());
  EXPECT_THAT(page, HasSubstr("Became right: 30, of which 1 are shown"));
  EXPECT_THAT(page, HasSubstr("src=\"data:image/jpeg;base64,/9j/4AAQ\""));
  EXPECT_THAT(page, HasSubstr("alt=\"pets/seven.jpg\""));
  EXPECT_THAT(page, HasSubstr("<div class=\"none\">forgotten</div>"));
  EXPECT_THAT(draw_report_page(night(), {}), HasSubstr("no picture"));
}

TEST(ReportPage, LoadsNothingAndRunsNothing) {
  const std::string page = draw_report_page(night(), thumbnails());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* loads : {"<script", "http:", "https:", "url(", "@import", "<link", "onload"})
    EXPECT_THAT(page, Not(HasSubstr(loads))) << loads;
}

// Whatever is a text in the report, made hostile.
void poison(Json& value, const std::string& text) {
  if (value.is_string()) value = text;
  if (value.is_structured())
    for (Json& part : value) poison(part, text);
}

TEST(ReportPage, HostileNamesStayWords) {
  const std::string hostile = "</script><script>alert(1)</script>\" onerror='x' \x1b[2J &amp;";
  Json job = night();
  job["result"]["details"]["elastic"] = test::elastic_result(test::block_tensors(2), 2);
  job["result"]["details"]["energy"] = {{"joules", 1}, {"source", "battery"}};
  poison(job, hostile);
  job["result"]["metric"] = "accuracy";
  job["result"]["details"]["auto"]["chosen"][hostile] = 1;
  job["result"]["details"]["stages"][hostile] = 1.5;
  Thumbnails shown = {{hostile, {hostile, 1, 1, hostile, hostile}}};
  const std::string page = draw_report_page(job, shown);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("</script")));
  EXPECT_THAT(page, Not(HasSubstr("\" onerror")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
  shown = {{hostile, {"/9j/", 1, 1, hostile, ""}}};
  EXPECT_THAT(draw_report_page(job, shown), Not(HasSubstr("\" onerror")));
}

TEST(ReportPage, ReportsThatLackEverything) {
  Json job{{"id", 1}, {"result", {{"promoted", false}, {"reason", "nothing is held out"}}}};
  std::string page = draw_report_page(job, {});
  EXPECT_THAT(page, HasSubstr("kept back by the guard"));
  EXPECT_THAT(page, HasSubstr("local accuracy was not measured"));
  // And whose members are of other types.
  for (const char* member : {"curve", "labels", "confusion", "changed", "auto", "stages", "memory",
                             "cache", "elastic", "data", "samples", "freeze", "energy"}) {
    for (const Json& odd : {Json(7), Json("text"), Json::array({1, "two", nullptr}),
                            Json{{"right", 3}, {"trials", 3}}}) {
      Json strange = night();
      strange["result"]["details"][member] = odd;
      EXPECT_THAT(draw_report_page(strange, {}), HasSubstr("</html>")) << member << " " << odd;
    }
  }
}

TEST(ReportPage, OfManyLabelsTheMostConfusedAreListed) {
  Json job = night();
  Json& confusion = job["result"]["details"]["confusion"];
  for (int i = 0; i < 100; ++i)
    confusion["labels"].push_back(
        {{"label", "l" + std::to_string(i)}, {"held_out", 5}, {"right", 4}});
  const std::string page = draw_report_page(job, {});
  EXPECT_THAT(page, Not(HasSubstr("class=\"matrix\"")));
  EXPECT_THAT(page, HasSubstr("taken for"));
  EXPECT_THAT(draw_report_page(night(), {}), HasSubstr("class=\"matrix\""));
}

}  // namespace
}  // namespace moil::daemon::ctl
