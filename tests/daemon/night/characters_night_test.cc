// Nights over text by characters: those that the model does not know get rows.
#include <gmock/gmock.h>

#include "daemon/models/known_symbols.h"
#include "daemon/models/sequence_of_kind.h"
#include "datasets/kinds/tokens/tokens_kind.h"
#include "engine/model/surgery.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

using ::testing::ElementsAre;

// Words over and over, each text beginning with another; every fourth is held out.
class Texts : public data::TableDataset<data::SampleDataset> {
 public:
  explicit Texts(std::vector<std::string> words) : words_(std::move(words)) {
    table_ = data::SampleTable({"texts"});
    for (std::size_t i = 0; i < 24; ++i)
      table_.add({0}, i % 4 == 3 ? data::Split::kValidation : data::Split::kTrain);
  }
  data::Digest digest(std::size_t i) const override { return data::digest_of(encoded(i)); }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    std::string text;
    for (std::size_t word = 0; word < 6 + i; ++word) text += words_[(i + word) % words_.size()];
    return {text.begin(), text.end()};
  }
  std::string name(std::size_t i) const override { return "text " + std::to_string(i); }

 private:
  std::vector<std::string> words_;
};

ModelBundle letters_bundle(const std::vector<std::string>& letters = {"a", "b"}) {
  ModelBundle bundle;
  bundle.kind = data::tokens_kind({.length = 8, .vocabulary = data::Vocabulary(letters)});
  const std::int64_t symbols = bundle.kind->symbols();
  bundle.description = {
      "letters",
      {{"symbols", {8}, ElementType::kInt32}},
      {{"table", "embedding", {"symbols"}, {{"rows", symbols}, {"width", std::int64_t{4}}}},
       {"lstm", "lstm", {"table"}, {{"units", std::int64_t{12}}}},
       {"next", "fully_connected", {"lstm"}, {{"units", symbols}}}},
      {"next"}};
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 5);
  bundle.labels = {};
  bundle.task = sequence_task_of(*bundle.kind);
  return bundle;
}

class CharactersNight : public ::testing::Test {
 protected:
  daemon::JobSpec spec(const Json& more = Json::object()) const { return place_.head_alone(more); }
  StoredModel version(std::int64_t version) const { return place_.version(version); }

  JobPlace place_{letters_bundle(), Texts({"ab", "ba"}), Texts({"ñc", "a"})};
};

TEST_F(CharactersNight, NewCharactersGetRowsThatLearn) {
  const JobTrace job = place_.run(spec({{"guard", {{"max_global_drop", 1}}}}));
  ASSERT_EQ(job.result["promoted"], true) << job.result;
  const StoredModel base = version(1), model = version(2);
  const auto* tokens = data::tokens_of(*model.kind);
  EXPECT_THAT(tokens->vocabulary.characters(), ElementsAre("a", "b", "c", "ñ"));
  EXPECT_EQ(model.task->to_json(), Json({{"task", "sequence"}, {"symbols", 6}, {"padding", 1}}));
  EXPECT_EQ(classifier_classes(model.description), 6);
  const auto shapes = model.weights.shapes();
  EXPECT_THAT(shapes.at("table.weight"), ElementsAre(6, 4));
  EXPECT_THAT(shapes.at("next.weight"), ElementsAre(6, 12));
  EXPECT_THAT(shapes.at("next.bias"), ElementsAre(6));
  const auto table = model.weights.read("table.weight").data;
  const auto before = base.weights.read("table.weight").data;
  EXPECT_FALSE(std::equal(table.begin() + 16, table.begin() + 20, before.begin())) << "c's row";
  EXPECT_EQ(model.weights.read("lstm.weight_hh").data, base.weights.read("lstm.weight_hh").data)
      << "one layer trains, and the table";
  const Json scores = job.result["details"]["scores"]["local"];
  EXPECT_LT(scores["after"]["bits_per_symbol"], scores["before"]["bits_per_symbol"]) << scores;
}

TEST_F(CharactersNight, KnownCharactersGetNoneAgain) {
  const Json guard = {{"guard", {{"max_global_drop", 1}}}};
  ASSERT_EQ(place_.run(spec(guard)).result["promoted"], true);
  const JobTrace job = place_.run(spec(guard), /*base=*/2, /*anchor=*/1);
  EXPECT_EQ(job.result["promoted"], true) << job.result;
  EXPECT_EQ(version(3).kind->to_json(), version(2).kind->to_json());
}

TEST(LearnSymbols, ANewCharacterBeginsAsAnyOther) {
  const TempFolder folder;
  const ModelBundle bundle = letters_bundle();
  write_model_folder(folder / "model", bundle);
  StoredModel model = open_model_folder(folder / "model");
  learn_symbols(model, {"x", "y"});
  ModelBundle in_memory = bundle;
  learn_symbols(in_memory, {"x", "y"});
  EXPECT_EQ(model.kind->symbols(), 6);
  for (const auto& [name, width] :
       {std::pair{"table.weight", 4}, {"next.weight", 12}, {"next.bias", 1}}) {
    const std::vector<float> grown = model.weights.read(name).data;
    const std::vector<float>& known = bundle.weights.at(name).data;
    ASSERT_EQ(grown.size(), static_cast<std::size_t>(6 * width)) << name;
    EXPECT_EQ(in_memory.weights.at(name).data, grown) << name;
    EXPECT_TRUE(std::equal(known.begin(), known.end(), grown.begin())) << name;
    for (const int row : {4, 5})
      EXPECT_TRUE(std::equal(known.begin(), known.begin() + width, grown.begin() + row * width))
          << name << ", " << row;
  }
}

TEST(LearnSymbols, RowsThatAreSharedDoNotGrow) {
  const TempFolder folder;
  ModelBundle bundle = letters_bundle();
  bundle.description.layers.insert(
      bundle.description.layers.begin() + 1,
      {"again", "embedding", {"symbols"}, {{"rows", std::int64_t{4}}, {"width", std::int64_t{4}}}});
  bundle.description.layers[1].shares = {{"weight", "table.weight"}};
  bundle.description.layers.insert(bundle.description.layers.begin() + 2,
                                   {"both", "add", {"table", "again"}, {}});
  bundle.description.layers[3].inputs = {"both"};
  write_model_folder(folder / "model", bundle);
  StoredModel model = open_model_folder(folder / "model");
  learn_symbols(model, {"x"});
  EXPECT_EQ(model.kind->symbols(), 4) << "x stays what nobody knows";
  EXPECT_EQ(model.task->to_json(), bundle.task->to_json());
}

}  // namespace
}  // namespace moil::night
