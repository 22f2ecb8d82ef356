#include "daemon/ctl/jobs/report_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moil::daemon::ctl {
namespace {

std::string amount_of(double joules) {
  return energy_words({{"energy", {{"joules", joules}, {"source", "battery"}}}})->amount;
}

TEST(EnergyWords, AreInTheUnitThatFits) {
  EXPECT_EQ(amount_of(0), "0 J");
  EXPECT_EQ(amount_of(812.4), "812 J");
  EXPECT_EQ(amount_of(5312.4), "5.3 kJ");
  EXPECT_EQ(amount_of(2.36e6), "2.4 MJ");
}

TEST(EnergyWords, TellTheSourceWithoutWhatSteersATerminal) {
  const auto words = energy_words({{"energy", {{"joules", 1}, {"source", "bat\x1btery"}}}});
  EXPECT_EQ(words->source, "bat?tery");
}

TEST(KnownRows, WhatIsNotKnownHasNoRow) {
  EXPECT_EQ(known_rows({{"a", "1"}, {"b", "-"}, {"c", ""}, {"-", "-", "-"}, {"alone"}}),
            (Rows{{"a", "1"}, {"-", "-", "-"}, {"alone"}}));
}

TEST(NoVerdict, FewHeldOutSamplesJudgeNothing) {
  const auto told = [](const Json& count) {
    return no_verdict({{"details", {{"samples", {{"local_validation", count}}}}}}, "local");
  };
  EXPECT_EQ(told(1), "1 held out: no verdict");
  EXPECT_EQ(told(4), "4 held out: no verdict");
  for (const Json& enough : {Json(5), Json(100), Json(0), Json()}) EXPECT_EQ(told(enough), "");
  EXPECT_EQ(no_verdict(Json::object(), "global"), "");
}

TEST(LeftOut, AllAreCountedAndOneIsOne) {
  Json details{{"left_out", {{{"name", "a.jpg"}, {"why", "cut off"}}}}};
  EXPECT_EQ(unreadable_heading(details), "1 unreadable sample");
  details["samples"] = {{"left_out", 3}};
  EXPECT_EQ(unreadable_heading(details), "3 unreadable samples");
  EXPECT_EQ(left_out_rows(details).back().front(), "and 2 more");
}

TEST(EnergyWords, AResultThatTellsNothingHasNone) {
  for (const Json& details :
       {Json(), Json::object(), Json{{"energy", nullptr}}, Json{{"energy", 7}},
        Json{{"energy", "x"}}, Json{{"energy", {{"joules", "7"}}}}})
    EXPECT_FALSE(energy_words(details).has_value()) << details;
}

Json imprinted(const Json& looks_like, const Json& left_out = nullptr) {
  return {{"imprinted",
           {{"labels", {"ants", "bees"}},
            {"samples", 10},
            {"looks_like", looks_like},
            {"left_out", left_out}}}};
}

TEST(NewLabels, ALabelThatLooksKnownIsToldWithTheCommandThatMapsIt) {
  const auto told = [](const char* label, const char* known) {
    const Json one = {{"label", label}, {"known", known}, {"said", 4}, {"samples", 5}};
    return new_label_rows(imprinted(Json::array({one}))).at(1).at(1);
  };
  EXPECT_EQ(
      told("ants", "ant"),
      "\"ants\" looks like the model's \"ant\" (4 of 5); if it is: moilctl label map ants ant");
  EXPECT_THAT(told("my cat's", "Persian cat"),
              ::testing::EndsWith(R"(moilctl label map 'my cat'\''s' 'Persian cat')"));
  EXPECT_THAT(told("-x", "$(y)"), ::testing::EndsWith("moilctl label map '-x' '$(y)'"));
  for (const Json& none : {Json(), Json::object(), Json{{"imprinted", nullptr}}})
    EXPECT_TRUE(new_label_rows(none).empty());
}

TEST(NewLabels, SayHowManyOfTheirSamplesTheOthersTell) {
  const Rows rows = new_label_rows(imprinted(Json::array(), {{"right", 9}, {"samples", 10}}));
  EXPECT_EQ(rows.at(0).at(1), "2, of 10 samples");
  EXPECT_EQ(rows.at(1).at(1), "9 of 10 are told by the others");
  EXPECT_EQ(new_label_rows(imprinted(Json::array())).size(), 1U) << "nobody can tell";
}

TEST(ProcessorsWords, TellWhoComputed) {
  EXPECT_EQ(processors_words({{"processors",
                               {{"asked", "path"},
                                {"method", "path"},
                                {"device", "Mali\x1b"},
                                {"layers", {{"a", "GGG"}, {"b", "CGC"}}},
                                {"predicted_seconds", 0.75},
                                {"cpu_seconds", 1.5}}}}),
            "2 layers of training on Mali?, 0.50 of the CPU's time as measured");
}

TEST(ProcessorsWords, TellOfFeatureMapsToo) {
  const Json maps = {{"method", "path"}, {"device", "Mali"}, {"layers", {{"a", "G"}}}};
  EXPECT_EQ(processors_words({{"processors", {{"feature_maps", maps}}}}),
            "1 layer of feature maps on Mali");
  EXPECT_EQ(
      processors_words(
          {{"processors",
            {{"asked", "path"}, {"method", "cpu"}, {"why", "no driver"}, {"feature_maps", maps}}}}),
      "training on the CPU alone: no driver; 1 layer of feature maps on Mali");
}

TEST(ProcessorsWords, ADeviceThatFailedIsTold) {
  EXPECT_EQ(processors_words(
                {{"processors",
                  {{"asked", "auto"}, {"method", "cpu"}, {"gave_up", true}, {"why", "it hung"}}}}),
            "training on the CPU alone: it hung");
}

TEST(ProcessorsWords, TellWhyNotWhereItWasAskedFor) {
  const auto words = [](const char* asked) {
    return processors_words(
        {{"processors", {{"asked", asked}, {"method", "cpu"}, {"why", "no driver"}}}});
  };
  EXPECT_EQ(words("path"), "training on the CPU alone: no driver");
  EXPECT_EQ(words("auto"), "");
  EXPECT_EQ(words("cpu"), "");
  EXPECT_EQ(processors_words({{"processors", nullptr}}), "");
  EXPECT_EQ(processors_words(Json()), "");
}

}  // namespace
}  // namespace moil::daemon::ctl
