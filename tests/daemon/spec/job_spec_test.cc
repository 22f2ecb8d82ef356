#include "daemon/spec/job_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moil::daemon {
namespace {

Json minimal() {
  return {{"name", "tonight"}, {"model", "digits"}, {"global", {{"pack", "/data/digits.pack"}}}};
}

// The pointers of everything wrong with the document.
std::vector<std::string> wrong_fields(const Json& document) {
  try {
    (void)job_spec_from_json(document);
    return {};
  } catch (const ValidationError& error) {
    std::vector<std::string> out;
    for (const auto& wrong : error.errors()) out.push_back(wrong.pointer);
    return out;
  }
}

std::string message_for(const Json& document) {
  try {
    (void)job_spec_from_json(document);
    return "";
  } catch (const ValidationError& error) {
    return error.errors().at(0).message;
  }
}

TEST(JobSpec, MinimalDescriptionTakesDefaults) {
  const JobSpec spec = job_spec_from_json(minimal());
  EXPECT_EQ(spec.name, "tonight");
  EXPECT_TRUE(spec.freeze.trainable_layers.all());
  EXPECT_TRUE(spec.cache.enabled);
  EXPECT_EQ(spec.augment, (AugmentSpec{1, true}));
  EXPECT_TRUE(spec.activate);
  EXPECT_FALSE(spec.local.labels.has_value());
}

TEST(JobSpec, RoundTripKeepsEveryField) {
  Json document = minimal();
  document["global"]["alpha"] = 0.25;
  document["local"]["labels"] = {"7", "8"};
  document["freeze"]["trainable_layers"] = 3;
  document["cache"] = {{"enabled", false}, {"dtype", "bf16"}};
  document["augment"] = {{"views", 3}, {"flip", false}};
  document["train"] = {{"epochs", 4},
                       {"optimizer", {{"type", "adamw"}, {"learning_rate", 0.1}}},
                       {"schedule", {{"type", "cosine"}}},
                       {"clip_norm", 1.5}};
  document["elastic"] = {
      {"rho", 0.35}, {"interval_epochs", 2}, {"importance", "update"}, {"pace", "even"}};
  document["deadline_seconds"] = 3600.0;
  document["memory"]["budget_bytes"] = 1 << 20;
  document["seed"] = 9007199254740991;
  const JobSpec spec = job_spec_from_json(document);
  EXPECT_EQ(spec.train.optimizer.type, OptimizerType::kAdamw);
  EXPECT_EQ(spec.freeze.trainable_layers.count, 3);
  EXPECT_EQ(spec.augment, (AugmentSpec{3, false}));
  EXPECT_EQ(spec.seed, 9007199254740991U);
  ASSERT_TRUE(spec.elastic);
  EXPECT_EQ(spec.elastic->rho, 0.35);
  EXPECT_EQ(spec.elastic->importance, Importance::kUpdate);
  EXPECT_EQ(spec.elastic->pace, ElasticPace::kEven);
  EXPECT_EQ(job_spec_from_json(to_json(spec)), spec);
}

TEST(JobSpec, WhatIsLeftOutIsOpenUnlessDefaultsAreAskedFor) {
  Json document = minimal();
  document["train"] = {{"epochs", 4}, {"clip_norm", nullptr}};
  const JobSpec spec = job_spec_from_json(document);
  EXPECT_EQ(spec.settings, Settings::kAuto);
  EXPECT_TRUE(spec.open.contains("/freeze/trainable_layers"));
  EXPECT_TRUE(spec.open.contains("/train/optimizer/learning_rate"));
  EXPECT_FALSE(spec.open.contains("/train/epochs"));
  EXPECT_FALSE(spec.open.contains("/train/clip_norm")) << "null was given";
  EXPECT_EQ(job_spec_from_json(to_json(spec)), spec) << "what is open stays open";
  document["settings"] = "defaults";
  EXPECT_TRUE(job_spec_from_json(document).open.empty());
}

TEST(JobSpec, WhatAnEarlierBuildStoredIsWholeAndNothingOfItOpen) {
  JobSpec whole;
  whole.name = "n";
  Json stored = to_json(whole);
  stored.erase("settings");
  EXPECT_TRUE(stored_job_spec(stored).open.empty());
}

TEST(JobSpec, ChoosableFieldsAreFields) {
  const Json whole = to_json(JobSpec{});
  for (const std::string_view field : choosable_fields())
    EXPECT_TRUE(whole.contains(Json::json_pointer(std::string(field)))) << field;
}

TEST(JobSpec, EveryWrongFieldIsNamedAtOnce) {
  Json document = minimal();
  document.erase("name");
  document["model"] = "../etc";
  document["global"] = {{"pack", 7}, {"alpha", 1.5}};
  document["train"] = {{"epocs", 3},
                       {"batch", "many"},
                       {"optimizer", {{"type", "sdg"}, {"learning_rate", -1}, {"momentum", 1}}}};
  document["freeze"]["trainable_layers"] = "some";
  document["local"]["labels"] = {"7", 8};
  EXPECT_THAT(wrong_fields(document),
              ::testing::UnorderedElementsAre(
                  "/name", "/model", "/global/pack", "/global/alpha", "/train/epocs",
                  "/train/batch", "/train/optimizer/type", "/train/optimizer/learning_rate",
                  "/train/optimizer/momentum", "/freeze/trainable_layers", "/local/labels/1"));
}

TEST(JobSpec, WhatATypeDoesNotReadIsRefusedWhereItIsGiven) {
  Json document = minimal();
  document["train"]["optimizer"]["type"] = "adam";
  EXPECT_THAT(wrong_fields(document), ::testing::IsEmpty());
  const Json filled = to_json(job_spec_from_json(document));
  EXPECT_THAT(wrong_fields(filled), ::testing::IsEmpty()) << "defaults are no wishes";
  document["train"]["optimizer"]["momentum"] = 0.9;
  document["train"]["schedule"] = {{"type", "cosine"}, {"gamma", 0.5}};
  EXPECT_THAT(wrong_fields(document),
              ::testing::ElementsAre("/train/optimizer/momentum", "/train/schedule/gamma"));
  EXPECT_EQ(message_for(document), "\"adam\" does not read it (sgd, sgdw); leave it out");
}

// As an older build stored it, with every default filled in.
TEST(JobSpec, WhatIsStoredIsReadWhateverIsAskedForNow) {
  Json document = minimal();
  document["train"]["optimizer"] = {{"type", "adam"}, {"momentum", 0.9}};
  document["train"]["schedule"]["gamma"] = 0;
  document["train"]["epochs"] = 3;
  EXPECT_FALSE(wrong_fields(document).empty());
  EXPECT_EQ(stored_job_spec(document).train.epochs, 3);
  EXPECT_EQ(stored_job_spec(document).name, "tonight");
}

// Earlier builds wrote it into every description.
TEST(JobSpec, AFieldThatIsNoMoreIsRefusedWhenSubmittedAndLeftOutOfWhatIsStored) {
  const JobSpec spec = job_spec_from_json(minimal());
  for (const char* value : {"shuffled", "importance"}) {
    Json earlier = to_json(spec);
    earlier["train"]["sampling"] = value;
    EXPECT_THAT(wrong_fields(earlier), ::testing::ElementsAre("/train/sampling"));
    EXPECT_EQ(stored_job_spec(earlier), spec);
  }
}

TEST(JobSpec, UnknownFieldNamesTheNearest) {
  Json document = minimal();
  document["train"]["epocs"] = 3;
  EXPECT_EQ(message_for(document), "unknown field \"epocs\"; did you mean \"epochs\"?");
}

TEST(JobSpec, UnknownValueNamesTheNearest) {
  Json document = minimal();
  document["train"]["optimizer"]["type"] = "adamv";
  EXPECT_THAT(message_for(document), ::testing::HasSubstr("did you mean \"adam"));
}

TEST(JobSpec, PointersEscapeTildeAndSlash) {
  Json document = minimal();
  document["a/b~c"] = 1;
  EXPECT_THAT(wrong_fields(document), ::testing::ElementsAre("/a~1b~0c"));
}

TEST(JobSpec, NotAnObject) {
  EXPECT_THAT(wrong_fields(Json::array()), ::testing::ElementsAre(""));
  EXPECT_THAT(wrong_fields({{"name", "x"}, {"model", "m"}, {"global", 3}}),
              ::testing::ElementsAre("/global"));
}

TEST(CheckName, KeepsModelsInTheirFolder) {
  for (const char* fine : {"digits", "a", "mobilenet-v2_1.0"}) EXPECT_FALSE(check_name(fine));
  for (const char* bad : {"", ".", "..", ".hidden", "a/b", "a b", "a\n"}) {
    EXPECT_TRUE(check_name(bad)) << bad;
  }
  EXPECT_TRUE(check_name(std::string(65, 'x')));
}

}  // namespace
}  // namespace moil::daemon
