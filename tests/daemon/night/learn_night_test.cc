// A night of 0 epochs: rows of new labels and nothing else.
#include <gmock/gmock.h>

#include <algorithm>

#include "daemon/models/model_folder.h"
#include "daemon/night/plan/kernel_profile.h"
#include "datasets/labels/label_store.h"
#include "datasets/labels/something_else.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json learning(const JobPlace& place) {
  Json description = place.description();
  description.merge_patch({{"train", {{"epochs", 0}}}, {"freeze", {{"trainable_layers", 1}}}});
  return description;
}

std::vector<float> rows_of(const StoredModel& model, std::size_t count) {
  std::vector<float> weights = model.weights.read("classifier.weight").data;
  weights.resize(count * weights.size() / model.labels.size());
  return weights;
}

TEST(LearnNight, AddsARowAndLeavesTheOthers) {
  JobPlace place;
  const JobTrace job = place.run(place.submitted(learning(place)));
  ASSERT_EQ(job.result["promoted"], true) << job.result;
  const StoredModel base = open_model_folder(place.layout().version("small", 1));
  const StoredModel model = open_model_folder(place.layout().version("small", 2));
  EXPECT_THAT(model.labels, ElementsAre("a", "b", "c", "new"));
  EXPECT_THAT(model.imprinted, ElementsAre("new"));
  EXPECT_THAT(model.imprintable, ElementsAre("new"));
  EXPECT_EQ(rows_of(model, 3), rows_of(base, 3));
  EXPECT_EQ(job.result["epochs"], 0);
  const Json imprinted = job.result["details"]["imprinted"];
  EXPECT_EQ(imprinted["labels"], Json({"new"}));
  EXPECT_EQ(imprinted["samples"], 4);
  EXPECT_TRUE(imprinted["looks_like"].is_array());
}

// Whatever the small model calls it, all photos of "new" are one picture to it.
TEST(LearnNight, SaysWhichKnownNameALabelHas) {
  JobPlace place;
  {
    data::LabelStore labels(place.layout().labels(), data::LabelStore::Access::kReadWrite);
    labels.remove_label("c", /*with_samples=*/true);
  }
  const JobTrace job = place.run(place.submitted(learning(place)));
  const Json alike = job.result["details"]["imprinted"]["looks_like"];
  ASSERT_EQ(alike.size(), 1U) << job.result;
  EXPECT_EQ(alike[0]["label"], "new");
  EXPECT_THAT((std::vector<std::string>{"a", "b", "c"}),
              ::testing::Contains(alike[0]["known"].get<std::string>()));
  EXPECT_GT(2 * alike[0]["said"].get<int>(), alike[0]["samples"].get<int>());
}

TEST(LearnNight, WhatIsOfNoLabelIsAClassThatLooksLikeNothing) {
  JobPlace place;
  {
    data::LabelStore labels(place.layout().labels(), data::LabelStore::Access::kReadWrite);
    labels.remove_label("c", /*with_samples=*/true);
    labels.merge_label("new", std::string(data::kSomethingElse));
  }
  const JobTrace job = place.run(place.submitted(learning(place)));
  ASSERT_EQ(job.result["promoted"], true) << job.result;
  const StoredModel model = open_model_folder(place.layout().version("small", 2));
  EXPECT_THAT(model.labels, ElementsAre("a", "b", "c", data::kSomethingElse));
  EXPECT_TRUE(job.result["details"]["imprinted"]["looks_like"].empty()) << job.result;
}

TEST(LearnNight, WhatIsDeniedIsNoClassAndComesWithItsLabel) {
  JobPlace place;
  {
    data::LabelStore labels(place.layout().labels(), data::LabelStore::Access::kReadWrite);
    const NumberImages strangers({"stranger"}, 4, 5000);
    for (std::size_t i = 0; i < strangers.size(); ++i)
      add_looked_at(labels, strangers.encoded(i), "!new", data::Split::kTrain);
    add_looked_at(labels, NumberImages({"yeti"}, 1, 6000).encoded(0), "!yeti", data::Split::kTrain);
  }
  for (const Json& chosen : {Json(nullptr), Json({"new"})}) {
    Json description = learning(place);
    if (chosen.is_array()) description["local"]["labels"] = chosen;
    const JobTrace job = place.run(place.submitted(description));
    ASSERT_EQ(job.result["promoted"], true) << job.result;
    EXPECT_THAT(place.version(1 + place.last_job()).labels, ElementsAre("a", "b", "c", "new"));
    const Json& details = job.result["details"];
    EXPECT_EQ(details["imprinted"]["samples"], 4);
    EXPECT_EQ(details["imprinted"]["denied_samples"], 4);
    EXPECT_EQ(details["denied_in_vain"], chosen.is_array() ? Json::array() : Json({"yeti"}));
  }
}

TEST(LearnNight, GivesTheSameFromDeeperMaps) {
  JobPlace place;
  Json deep = learning(place);
  deep["freeze"]["trainable_layers"] = 2;
  (void)place.run(place.submitted(learning(place)));
  (void)place.run(place.submitted(deep));
  const auto shallow = rows_of(open_model_folder(place.layout().version("small", 2)), 4);
  const auto other = rows_of(open_model_folder(place.layout().version("small", 3)), 4);
  ASSERT_EQ(shallow.size(), other.size());
  for (std::size_t i = 0; i < shallow.size(); ++i) EXPECT_NEAR(shallow[i], other[i], 1e-3);
}

// By the same kernels: which are fastest is measured once on a device.
TEST(LearnNight, TheSameJobEndsInTheSameBits) {
  JobPlace first, again;
  const std::string weights = first.run(first.submitted(learning(first))).weights;
  EXPECT_FALSE(weights.empty());
  const KernelProfile measured = load_kernel_profile(first.layout().kernel_profile());
  EXPECT_FALSE(measured.choices.empty());
  save_kernel_profile(again.layout().kernel_profile(), measured);
  EXPECT_EQ(again.run(again.submitted(learning(again))).weights, weights);
}

// One clock for the kernels of trials and of the night behind them.
TEST(ChoosingNight, MeasuresAllKernelsByOneClock) {
  JobPlace place;
  {
    data::LabelStore labels(place.layout().labels(), data::LabelStore::Access::kReadWrite);
    const NumberImages more({"new", "c"}, 24, 3000);
    for (std::size_t i = 0; i < more.size(); ++i)
      add_looked_at(labels, more.encoded(i), more.classes()[more.labels(i)[0]], more.split(i));
  }
  Json description = place.description();
  description["settings"] = "auto";
  description["train"] = {{"epochs", 1}};
  const JobTrace job = place.run(place.submitted(description));
  ASSERT_GE(job.result["details"]["auto"]["trials"].size(), 1U);
  const KernelProfile profile = load_kernel_profile(place.layout().kernel_profile());
  const Json& kernels = job.result["details"]["kernels"];
  EXPECT_GE(kernels["measured"].get<std::size_t>() + kernels["untried"].get<std::size_t>(),
            profile.choices.size());
}

TEST(LearnNight, ANightThatTrainsBeginsWithTheRows) {
  JobPlace place;
  Json description = place.description();
  for (const int layers : {1, 2}) {
    description["freeze"]["trainable_layers"] = layers;
    const JobTrace job = place.run(place.submitted(description));
    EXPECT_EQ(job.result["details"]["imprinted"]["labels"], Json({"new"}));
    const StoredModel model = open_model_folder(place.layout().version("small", 1 + layers));
    EXPECT_THAT(model.imprinted, IsEmpty());
    // Made anew, they would be of features that have seen the samples.
    EXPECT_EQ(model.imprintable.empty(), layers > 1);
  }
}

TEST(LearnNight, IsRefusedWhereThereIsNothingToLearn) {
  JobPlace place;
  {
    data::LabelStore labels(place.layout().labels(), data::LabelStore::Access::kReadWrite);
    labels.remove_label("new", /*with_samples=*/true);
  }
  std::string text;
  EXPECT_EQ(error_of([&] { (void)place.submitted(learning(place)); }, &text),
            ErrorCode::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("/train/epochs"));
  EXPECT_THAT(text, HasSubstr("does not know yet"));
}

}  // namespace
}  // namespace moil::night
