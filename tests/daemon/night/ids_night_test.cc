// Nights over ratings: users and items that the model does not know get rows.
#include <gmock/gmock.h>

#include "base/files/file.h"
#include "daemon/models/known_symbols.h"
#include "datasets/kinds/rows/ids_kind.h"
#include "engine/model/surgery.h"
#include "engine/train/tasks/predict.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kItems = 6;

// Each user rates each item; every fourth rating is held out.
class Ratings : public data::TableDataset<data::SampleDataset> {
 public:
  Ratings(std::vector<std::string> users, std::string first_item = "1")
      : users_(std::move(users)), first_item_(std::move(first_item)) {
    table_ = data::SampleTable({"1", "2", "3"});
    for (std::size_t i = 0; i < users_.size() * kItems; ++i)
      table_.add({static_cast<data::ClassId>((i / kItems + i) % 3)},
                 i % 4 == 3 ? data::Split::kValidation : data::Split::kTrain);
  }
  data::Digest digest(std::size_t i) const override { return data::digest_of(encoded(i)); }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    const std::size_t item = i % kItems;
    const std::string text = "user,item\n" + users_[i / kItems] + "," +
                             (item == 0 ? first_item_ : std::to_string(item + 1)) + "\n";
    return {text.begin(), text.end()};
  }
  std::string name(std::size_t i) const override { return "rating " + std::to_string(i); }

 private:
  std::vector<std::string> users_;
  std::string first_item_;
};

ModelBundle ratings_bundle() {
  ModelBundle bundle;
  bundle.description = parse_model(R"({"format":"moil-model","version":1,"name":"ratings",
    "inputs":[{"name":"record","dims":[2],"type":"int32"}],
    "layers":[
     {"name":"table","type":"embedding","inputs":["record"],"properties":{"rows":10,"width":4}},
     {"name":"flat","type":"flatten","inputs":["table"]},
     {"name":"hidden","type":"fully_connected","inputs":["flat"],"properties":{"units":8}},
     {"name":"relu","type":"relu","inputs":["hidden"]},
     {"name":"stars","type":"fully_connected","inputs":["relu"],"properties":{"units":1}}],
    "outputs":["stars"]})");
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 5);
  bundle.labels = {"stars"};
  std::vector<std::string> ids = {"user=ann", "user=bob", "user=eve"};
  for (int item = 1; item <= kItems; ++item) ids.push_back("item=" + std::to_string(item));
  bundle.kind = data::ids_kind({{"user", false, {}}, {"item", false, {}}}, std::move(ids));
  bundle.task = predict_task({.mean = {2}, .stddev = {1}});
  return bundle;
}

class IdsNight : public ::testing::Test {
 protected:
  daemon::JobSpec spec(const Json& more = Json::object()) const { return place_.head_alone(more); }
  StoredModel version(std::int64_t version) const { return place_.version(version); }
  static std::vector<float> row(const StoredModel& model, std::size_t number) {
    const std::vector<float> table = model.weights.read("table.weight").data;
    return {table.begin() + 4 * static_cast<std::ptrdiff_t>(number),
            table.begin() + 4 * static_cast<std::ptrdiff_t>(number + 1)};
  }

  // Two new users and a new item, and a user who is known.
  JobPlace place_{ratings_bundle(), Ratings({"ann", "bob", "eve"}),
                  Ratings({"zoe", "cy", "bob"}, "99")};
};

TEST_F(IdsNight, NewIdsGetRowsThatLearn) {
  const JobTrace job = place_.run(spec());
  ASSERT_EQ(job.result["promoted"], true) << job.result;
  const StoredModel base = version(1), model = version(2);
  EXPECT_EQ(base.kind->symbols(), 10);
  const auto ids = model.kind->to_json().at("ids").get<std::vector<std::string>>();
  ASSERT_EQ(ids.size(), 12U);
  EXPECT_THAT(std::vector(ids.begin() + 9, ids.end()),
              ElementsAre("item=99", "user=cy", "user=zoe"));
  EXPECT_EQ(model.weights.shapes().at("table.weight"), (std::vector<std::int64_t>{13, 4}));
  EXPECT_EQ(row(model, 0), row(base, 0)) << "no sample shows it";
  for (const std::size_t fresh : {10, 11, 12}) EXPECT_NE(row(model, fresh), row(base, 0)) << fresh;
  EXPECT_NE(row(model, 2), row(base, 2)) << "bob's";
  EXPECT_EQ(model.weights.read("hidden.weight").data, base.weights.read("hidden.weight").data)
      << "one layer trains, and the table";
  EXPECT_NE(model.weights.read("stars.weight").data, base.weights.read("stars.weight").data);
}

TEST_F(IdsNight, KnownIdsGetNoneAgain) {
  ASSERT_EQ(place_.run(spec()).result["promoted"], true);
  const daemon::JobSpec guarded = spec({{"guard", {{"max_global_drop", 0.99}}}});
  const JobTrace job = place_.run(guarded, /*base=*/2, /*anchor=*/1);
  ASSERT_EQ(job.result["promoted"], true) << job.result;
  EXPECT_TRUE(job.result["details"]["anchor"]["global"].is_number())
      << "the anchor is asked what it knows: " << job.result["details"]["anchor"];
  EXPECT_EQ(version(3).kind->to_json(), version(2).kind->to_json());
}

// Before the night a new id is what nobody knows, and the same is said of its rows that begin
// there.
TEST_F(IdsNight, WithoutALearningStepAllAnswersStayAsTheyWere) {
  const JobTrace job =
      place_.run(spec({{"train", {{"epochs", 1}, {"optimizer", {{"learning_rate", 1e-300}}}}}}));
  const Json scores = job.result["details"]["scores"];
  EXPECT_EQ(scores["local"]["before"], scores["local"]["after"]);
  EXPECT_EQ(scores["global"]["before"], scores["global"]["after"]);
  EXPECT_EQ(row(version(2), 12), row(version(1), 0));
}

TEST_F(IdsNight, NothingIsKnownOfIdsThatNobodyLearned) {
  const JobTrace job = place_.run(spec({{"freeze", {{"trainable_layers", 0}}}}));
  EXPECT_EQ(version(2).kind->to_json(), version(1).kind->to_json()) << job.result;
}

TEST_F(IdsNight, AMethodThatLeavesTablesAloneIsRefused) {
  for (const char* method : {"last_layer", "bn_bias"}) {
    std::string text;
    EXPECT_EQ(error_of(
                  [&] {
                    (void)spec({{"train", {{"method", method}}}});
                  },
                  &text),
              ErrorCode::kInvalidArgument);
    EXPECT_THAT(text, HasSubstr("/train/method"));
  }
}

TEST_F(IdsNight, ViewsHideIds) {
  const std::string plain = place_.run(spec()).weights;
  EXPECT_NE(place_.run(spec({{"augment", {{"views", 3}}}})).weights, plain);
}

TEST(IdsNights, ChooseSettingsThemselves) {
  std::vector<std::string> known = {"ann", "bob", "eve"}, fresh;
  for (const char user : std::string("abcdefghijkl")) fresh.emplace_back(1, user);
  JobPlace place(ratings_bundle(), Ratings(known), Ratings(fresh));
  Json description = place.open_description();
  description["threads"] = 1;
  const JobTrace job = place.run(place.submitted(description));
  EXPECT_GE(job.result["details"]["auto"]["trials"].size(), 1U) << job.result;
  const StoredModel model = open_model_folder(place.layout().version("small", 2));
  EXPECT_EQ(model.kind->symbols(), 22);
}

TEST_F(IdsNight, AKilledOneEndsInTheSameBits) {
  const Json much = {
      {"train", {{"epochs", 2000}, {"optimizer", {{"type", "adamw"}, {"learning_rate", 0.01}}}}}};
  const daemon::JobSpec job = spec(much);
  const auto weights = [&](std::int64_t id) {
    return read_text(place_.layout().version("small", 1 + id) / "weights.safetensors");
  };
  ASSERT_TRUE(place_.attempt(place_.job_file(job, 1), false));
  ASSERT_TRUE(place_.attempt(place_.job_file(job, 2), false)) << "with the kernels of the first";
  ASSERT_FALSE(place_.attempt(place_.job_file(job, 3), true)) << "it had ended before";
  ASSERT_TRUE(place_.attempt(place_.job_file(job, 3), false));
  EXPECT_EQ(weights(3), weights(2));
  EXPECT_EQ(version(4).kind->to_json(), version(3).kind->to_json());
}

// A table that has fewer rows than the kind tells ids apart.
TEST(IdsModelFolder, ATableThatDoesNotFitIsRefused) {
  const TempFolder folder;
  ModelBundle bundle = ratings_bundle();
  bundle.kind = bundle.kind->with_symbols({"user=dan"});
  write_model_folder(folder / "model", bundle);
  std::string text;
  EXPECT_EQ(error_of([&] { (void)read_model_folder(folder / "model"); }, &text),
            ErrorCode::kBadData);
  EXPECT_THAT(text, HasSubstr("it tells 11 symbols apart; the table \"table\" has 10 rows"));
}

// A table may have rows to spare.
TEST(IdsModelFolder, RowsToSpareAreTakenFirst) {
  const TempFolder folder;
  ModelBundle bundle = ratings_bundle();
  bundle.kind = data::ids_kind({{"user", false, {}}, {"item", false, {}}}, {"user=ann", "item=1"});
  write_model_folder(folder / "model", bundle);
  StoredModel model = open_model_folder(folder / "model");
  learn_symbols(model, {"item=2"});
  ModelBundle in_memory = bundle;
  learn_symbols(in_memory, {"item=2"});
  EXPECT_EQ(model.kind->symbols(), 4);
  EXPECT_EQ(table_rows(model.description, "table"), 10);
  const NamedTensor table = model.weights.read("table.weight");
  const auto& before = bundle.weights.at("table.weight").data;
  EXPECT_EQ(table.dims, (std::vector<std::int64_t>{10, 4}));
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 12, table.data.begin()));
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 4, table.data.begin() + 12));
  EXPECT_EQ(in_memory.weights.at("table.weight").data, table.data);
  EXPECT_EQ(in_memory.kind->to_json(), model.kind->to_json());
}

}  // namespace
}  // namespace moil::night
