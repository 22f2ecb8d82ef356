// No night is lost to what it chose itself: whatever stands beside "auto", and whatever an earlier
// night chose.
#include <gmock/gmock.h>

#include "daemon/night/night_plan.h"
#include "daemon/night/settings/settings_record.h"
#include "daemon/night/stages/trial.h"
#include "daemon/pretrain/pretraining.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

using ::testing::HasSubstr;

// Enough samples to try settings on.
constexpr std::size_t kLabelled = 24;

// Where a submission is refused; empty if it is accepted.
std::string refusal(JobPlace& place, const Json& description) {
  try {
    (void)place.submitted(description);
  } catch (const daemon::ValidationError& e) {
    return e.errors().front().pointer;
  }
  return "";
}

Json with(Json description, const Json& changes) {
  description.merge_patch(changes);
  return description;
}

std::vector<Json> all_of(const std::vector<std::vector<Json>>& choices, const Json& first) {
  std::vector<Json> all = {first};
  for (const std::vector<Json>& patches : choices) {
    std::vector<Json> more;
    for (const Json& each : all)
      for (const Json& patch : patches) more.push_back(with(each, patch));
    all = std::move(more);
  }
  return all;
}

Json at(const Json& description, const char* pointer) {
  return description.value(Json::json_pointer(pointer), Json());
}

Json layers(const Json& count) { return {{"freeze", {{"trainable_layers", count}}}}; }

const Json kNothing = Json::object();

// Trials and nights of a blink.
Json short_and_open(const JobPlace& place) {
  return with(place.open_description(), {{"train", {{"epochs", 2}}}});
}

// Every option that has to do with a deadline, with one that is long, and one that is too short
// for anything.
TEST(OwnChoice, ADeadlineRunsOrSaysThatItCannotBeKept) {
  JobPlace place(kLabelled);
  const Json elastic = {{"elastic", Json::object()}}, learn = {{"train", {{"epochs", 0}}}};
  int ran = 0, refused = 0, too_short = 0;
  for (const Json& begin : {short_and_open(place), place.description()}) {
    for (const Json& description :
         all_of({{{{"deadline_seconds", 3600}}, {{"deadline_seconds", 1e-3}}},
                 {kNothing, layers(0), layers(1), layers(2), layers("all")},
                 {kNothing, elastic},
                 {kNothing, learn}},
                begin)) {
      SCOPED_TRACE(description.dump());
      const bool is_short = at(description, "/deadline_seconds") < 1;
      const std::string pointer = refusal(place, description);
      if (at(description, "/train/epochs") == 0) {
        EXPECT_TRUE(pointer == "/deadline_seconds" || pointer == "/elastic") << pointer;
        ++refused;
        continue;
      }
      EXPECT_EQ(pointer, "");
      try {
        const JobTrace night = place.run(place.submitted(description));
        EXPECT_FALSE(is_short && at(description, "/freeze/trainable_layers") != 0) << night.result;
        ++ran;
      } catch (const daemon::ValidationError& e) {
        EXPECT_TRUE(is_short) << e.what();
        EXPECT_EQ(e.errors().front().pointer, "/deadline_seconds");
        ++too_short;
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
  }
  EXPECT_GT(ran, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(too_short, 0);
}

// Rows of another size are never written into.
TEST(OwnChoice, APackOfMapsIsTrainedBehindOrRefusedWhenSubmitted) {
  JobPlace place(kLabelled);
  const auto model = place.layout().version("small", 1);
  std::vector<Json> packs;
  for (const int n : {1, 2}) {
    const auto pack = place.folder("maps" + std::to_string(n));
    (void)pretrain::write_features(model, place.folder("pack"), n, pack);
    packs.push_back({{"global", {{"pack", pack.string()}}}});
  }
  int ran = 0, refused = 0;
  for (const Json& begin : {short_and_open(place), place.description()}) {
    for (const Json& description :
         all_of({packs,
                 {{{"cache", {{"enabled", true}}}}, {{"cache", {{"enabled", false}}}}},
                 {kNothing, layers(0), layers(1), layers(2), layers("all")},
                 {kNothing,
                  {{"deadline_seconds", 3600}},
                  {{"elastic", Json::object()}},
                  {{"train", {{"epochs", 0}}}},
                  {{"augment", {{"views", 3}}}}}},
                begin)) {
      SCOPED_TRACE(description.dump());
      if (const std::string pointer = refusal(place, description); !pointer.empty()) {
        EXPECT_TRUE(pointer == "/global/pack" || pointer == "/train/epochs") << pointer;
        ++refused;
        continue;
      }
      try {
        (void)place.run(place.submitted(description));
        ++ran;
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
  }
  EXPECT_GT(ran, 20);
  EXPECT_GT(refused, 20);
}

std::int64_t needed(JobPlace& place, const Json& description) {
  const daemon::JobSpec spec = daemon::job_spec_from_json(description);
  return plan_job(place.layout(), place.job_file(spec, 1000), {.check = true})
      .at("predicted_bytes");
}

// Its layers' gradients and states take far more than kernels that are measured may save.
ModelBundle wide_bundle() {
  ModelBundle bundle = small_bundle();
  for (LayerDescription& layer : bundle.description.layers)
    if (layer.type == "conv2d")
      layer.properties = {{"out_channels", std::int64_t{64}},
                          {"kernel", std::int64_t{3}},
                          {"padding", std::int64_t{1}},
                          {"bias", false}};
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 5);
  return bundle;
}

// What a night chose without a budget, or with more free memory, is not had under one.
TEST(OwnChoice, WhatDoesNotFitABudgetGivesWayToWhatDoes) {
  JobPlace place(kLabelled, wide_bundle());
  // Batch norms that learn take a batch whole, so that it cannot be cut to fit.
  const Json open =
      with(place.open_description(), {{"train", {{"batch", 48}, {"optimizer", {{"type", "adam"}}}}},
                                      {"cache", {{"enabled", false}}},
                                      {"swap", {{"mode", "off"}}},
                                      {"freeze", {{"batch_norms", false}}}});
  const std::int64_t shallow = needed(place, with(open, layers(1))),
                     deep = needed(place, with(open, layers("all")));
  ASSERT_GT(deep, shallow + 1000);
  // Outputs that are made again go far, but not below what F itself must keep.
  const auto budget = [&](std::int64_t bytes) {
    return with(open, {{"memory", {{"budget_bytes", bytes}}}});
  };
  std::int64_t refused = shallow, fits = deep;
  while (fits - refused > 1000) {
    const std::int64_t middle = (refused + fits) / 2;
    (refusal(place, with(budget(middle), layers("all"))).empty() ? fits : refused) = middle;
  }
  ASSERT_GT(refused, shallow + 200'000);
  const Json tight = budget(shallow + 100'000);
  const daemon::JobSpec spec = place.submitted(tight);
  const SettingsRecord record(place.layout().settings("small"), spec);
  const Candidate all_layers{std::nullopt, 0.02, 4};
  record.keep({all_layers, 36, 1, 36});
  ASSERT_TRUE(record.find(36));
  const JobTrace night = place.run(spec);
  const Json& told = night.result["details"]["auto"];
  EXPECT_EQ(told["chosen"]["layers"], 1) << told;
  EXPECT_THAT(told["why"].get<std::string>(),
              AllOf(HasSubstr("for all layers at a learning rate of 0.02"),
                    HasSubstr("/memory/budget_bytes")));
  EXPECT_FALSE(record.find(36)) << "the next night tries anew what there is room for";
}

TEST(OwnChoice, SettingsAreRememberedForTheMemoryThatTheyWereTriedIn) {
  JobPlace place(kLabelled);
  const daemon::JobSpec roomy = place.submitted(place.open_description());
  const auto file = place.layout().settings("small");
  SettingsRecord(file, roomy).keep({Candidate{}, 36, 1, 36});
  EXPECT_TRUE(SettingsRecord(file, roomy).find(36));
  for (const Json& changes : std::vector<Json>{{{"memory", {{"budget_bytes", 1 << 30}}}},
                                               {{"swap", {{"mode", "off"}}}}}) {
    const auto spec = place.submitted(with(place.open_description(), changes));
    EXPECT_FALSE(SettingsRecord(file, spec).find(36)) << changes;
  }
}

TEST(OwnChoice, EachJobHasARecordOfItsOwn) {
  JobPlace place(kLabelled);
  const auto file = place.layout().settings("small");
  const auto record = [&](const Json& changes) {
    return SettingsRecord(file, place.submitted(with(place.open_description(), changes)));
  };
  const SettingsRecord plain = record(kNothing),
                       other = record({{"guard", {{"max_global_drop", 0.5}}}});
  plain.keep({Candidate{1, 0.03, 1, kFewClassifierSteps}, 36, 1, 36});
  EXPECT_FALSE(other.find(36)) << "another guard lets other settings pass";
  other.keep({Candidate{2, 0.02, 4}, 36, 2, 36});
  EXPECT_EQ(plain.find(36)->candidate.layers, 1);
  other.forget();
  EXPECT_FALSE(other.find(36));
  EXPECT_TRUE(plain.find(36)) << "a model that was kept back is no other job's fault";
  for (int n = 1; n <= 40; ++n)
    record({{"train", {{"batch", n}}}}).keep({Candidate{}, 36, 2 + n, 36});
  EXPECT_FALSE(plain.find(36)) << "the file does not grow for ever";
  EXPECT_TRUE(record({{"train", {{"batch", 40}}}}).find(36));
}

TEST(OwnChoice, ASearchIsMadeOnce) {
  for (const Json& changes : std::vector<Json>{kNothing,
                                               {{"global", {{"alpha", 0}}}},
                                               {{"global", {{"limit", 2}}}},
                                               {{"cache", {{"enabled", false}}}},
                                               {{"train", {{"epochs", 3}}}}}) {
    SCOPED_TRACE(changes.dump());
    JobPlace place(kLabelled);
    const auto spec = place.submitted(with(place.open_description(), changes));
    const JobTrace first = place.run(spec);
    EXPECT_FALSE(first.result["details"]["auto"]["trials"].empty());
    EXPECT_TRUE(first.result["promoted"]) << first.result["reason"];
    const JobTrace second = place.run(spec);
    EXPECT_TRUE(second.result["details"]["auto"]["trials"].empty())
        << second.result["details"]["auto"];
  }
}

TEST(OwnChoice, MapsOfTheFirstTrialAreTheNights) {
  JobPlace place(kLabelled);
  const Json one = {{"freeze", {{"trainable_layers", 1}}},
                    {"train", {{"optimizer", {{"learning_rate", 0.03}}}}}};
  const Json told = place.run(place.submitted(with(short_and_open(place), one))).result["details"];
  ASSERT_EQ(told["auto"]["trials"].size(), 1U);
  EXPECT_GE(told["cache"]["reused"], told["auto"]["trials"][0]["samples"]);
}

// Where the night does what its trial did: with a deadline, tensors chosen anew or a length of the
// user's own it does something else.
TEST(OwnChoice, TheWinnersTrialIsTheBeginningOfTheNight) {
  JobPlace place(kLabelled);
  const Json one = {{"freeze", {{"trainable_layers", 2}}},
                    {"augment", {{"views", 1}}},
                    {"train", {{"batch", 2}, {"optimizer", {{"learning_rate", 0.02}}}}}};
  const Json job = with(place.open_description(), one);
  const JobTrace night = place.run(place.submitted(job));
  EXPECT_EQ(night.choices["settings"]["begun"], 0);
  EXPECT_FALSE(std::filesystem::exists(NightFiles(place.layout().job(1)).trials()));
  const JobTrace known = place.run(place.submitted(job));
  EXPECT_FALSE(known.choices["settings"].contains("begun"));
  const auto epochs = [](const JobTrace& trace) {
    return trace.result["details"]["auto"]["chosen"]["epochs"].get<double>();
  };
  EXPECT_NEAR(epochs(night), (1 - kTrialPart) * epochs(known), 1);
  for (const Json& other : std::vector<Json>{{{"train", {{"epochs", 2}}}},
                                             {{"elastic", Json::object()}},
                                             {{"deadline_seconds", 3600}}}) {
    const Json settings = place.run(place.submitted(with(job, other))).choices["settings"];
    EXPECT_TRUE(settings.contains("chosen"));
    EXPECT_FALSE(settings.contains("begun")) << other;
  }
}

// A night that begins with the model of the one before trains for what is new.
TEST(OwnChoice, TheSecondNightIsShorter) {
  JobPlace place(kLabelled);
  const Json one = {{"freeze", {{"trainable_layers", 2}}},
                    {"augment", {{"views", 1}}},
                    {"train", {{"batch", 2}, {"optimizer", {{"learning_rate", 0.02}}}}}};
  const auto spec = place.submitted(with(place.open_description(), one));
  const SettingsRecord record(place.layout().settings("small"), spec);
  const auto epochs = [&](std::int64_t version, std::size_t learned) {
    record.keep({Candidate{2, 0.02, 1}, 36, version, learned});
    const JobTrace night = place.run(spec);
    return night.result["details"]["auto"]["chosen"]["epochs"].get<double>();
  };
  const double whole = epochs(7, 36);  // every night of the place begins with version 1
  EXPECT_NEAR(epochs(1, 36), 0.25 * whole, 1);
  EXPECT_NEAR(epochs(1, 29), 0.4 * whole, 1);
  EXPECT_NEAR(epochs(1, 3), (1 - kTrialPart) * whole, 1);
  const auto own =
      place.submitted(with(with(place.open_description(), one), {{"train", {{"epochs", 17}}}}));
  SettingsRecord(place.layout().settings("small"), own).keep({Candidate{2, 0.02, 1}, 36, 1, 36});
  EXPECT_EQ(place.run(own).result["details"]["auto"]["chosen"]["epochs"], 17) << "the user's own";
}

// Rows that few steps train are made of all samples each night; others go on.
TEST(OwnChoice, ABriefClassifierIsMadeAnewOfAllSamples) {
  JobPlace place(kLabelled);
  const Json one = {{"freeze", {{"trainable_layers", 1}}}};
  (void)place.run(place.submitted(with(place.description(), one)));
  const auto spec = place.submitted(with(place.open_description(), one));
  const SettingsRecord record(place.layout().settings("small"), spec);
  for (const int steps : {kFewClassifierSteps, kClassifierSteps}) {
    record.keep({Candidate{1, 0.03, 1, steps}, 36, 2, 36});
    const JobTrace night = place.run(spec, 2);
    EXPECT_TRUE(night.result["details"]["auto"]["trials"].empty());
    EXPECT_EQ(night.result["details"]["imprinted"].is_null(), steps == kClassifierSteps);
  }
}

// What a model has learned by heart judges nothing: a head that was deep stays so, and rows are
// made anew before others are tried.
TEST(OwnChoice, WhatNightsLearnedIsNoEvidence) {
  JobPlace place(kLabelled);
  const auto spec = place.submitted(place.open_description());
  const SettingsRecord record(place.layout().settings("small"), spec);
  record.keep({Candidate{2, 0.02, 1}, 36, 1, 36});
  EXPECT_TRUE(record.find(3600));
  EXPECT_FALSE(record.find(20));
  record.keep({Candidate{1, 0.03, 1, kFewClassifierSteps}, 24, 1, 24});
  EXPECT_TRUE(record.find(36));
  EXPECT_FALSE(record.find(37));
  EXPECT_TRUE(place.run(spec).choices["settings"]["anew"]);
}

// If the night itself trains on nothing of the pack, a trial still knows what it forgets.
TEST(OwnChoice, TrialsAreHeldAgainstThePackThatTheNightDoesNotTrainOn) {
  JobPlace place(kLabelled);
  const auto spec = place.submitted(with(place.open_description(), {{"global", {{"alpha", 0}}}}));
  const Json told = place.run(spec).result["details"]["auto"];
  ASSERT_FALSE(told["trials"].empty());
  for (const Json& trial : told["trials"])
    EXPECT_TRUE(trial["why"] != "" || trial["global"].is_number()) << trial;
}

TEST(OwnChoice, NothingIsTriedWhereNothingTrains) {
  JobPlace place(kLabelled);
  for (const Json& changes : std::vector<Json>{{{"train", {{"epochs", 0}}}}, layers(0)}) {
    const Json told =
        place.run(place.submitted(with(place.open_description(), changes))).result["details"];
    EXPECT_TRUE(told["auto"]["trials"].empty());
    EXPECT_THAT(told["auto"]["why"].get<std::string>(), HasSubstr("nothing trains"));
  }
}

}  // namespace
}  // namespace moil::night
