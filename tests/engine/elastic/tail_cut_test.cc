#include "engine/elastic/tail_cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/preparation.h"
#include "engine/train/trainer.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using ::testing::ElementsAre;

Graph training_graph(const ModelDescription& model) {
  return build_graph(training_plan_input(model, nullptr, TrainerConfig{}).model, 4);
}

// Every layer takes a second; `layers` of them have one weight, "LAYER.weight".
TimingProfile seconds_of(const Graph& graph) {
  TimingProfile profile;
  for (const Node& node : graph.nodes) {
    LayerTiming layer{node.name, 1, 1, {}};
    if (!node.weights.empty()) layer.weights.push_back({node.name + ".weight", 2});
    profile.layers.push_back(layer);
    profile.forward += 1;
    profile.step += 3;
  }
  return profile;
}

struct CutCase {
  explicit CutCase(const ModelDescription& model)
      : graph(training_graph(model)), profile(seconds_of(graph)), cuts(tail_cuts(model, graph)) {}
  const TailCut& cut(const std::string& value) const {
    for (const TailCut& c : cuts)
      if (c.cut.value == value) return c;
    throw std::out_of_range(value);
  }
  TailTerms terms(double computed) const { return {cuts, 1000, computed, "", 1}; }

  Graph graph;
  TimingProfile profile;
  std::vector<TailCut> cuts;
};

std::vector<std::string> values(const CutCase& c) {
  std::vector<std::string> names;
  for (const TailCut& cut : c.cuts) names.push_back(cut.cut.value);
  return names;
}

ModelDescription chain() {
  return test::ModelBuilder({4}).fc(5).norm().relu().fc(6).relu().fc(3).model();
}

// A fully connected layer and what inference folds into it are one.
TEST(TailCut, StandsBehindWhatInferenceComputesInOne) {
  const CutCase c(chain());
  EXPECT_THAT(values(c), ElementsAre("relu0", "relu1", "fully_connected2"));
  EXPECT_EQ(c.cut("relu0").elements, 5U);
  EXPECT_EQ(forward_before(c.cut("relu0"), c.profile), 3);
  EXPECT_EQ(forward_before(c.cut("relu1"), c.profile), 5);
}

TEST(TailCut, StandsBeforeEveryDropout) {
  test::ModelBuilder b({4});
  b.fc(5).relu().layer("dropout").fc(6).relu().fc(3);
  EXPECT_THAT(values(CutCase(b.model())), ElementsAre("relu0"));
}

// What training adds for a value that is read twice stands where its readers do.
TEST(TailCut, AFanOutBelongsToItsReaders) {
  test::ModelBuilder b({4});
  b.fc(4).relu().fc(4).layer("add", {}, {"fully_connected1", "relu0"}).fc(3);
  const CutCase c(b.model());
  EXPECT_THAT(values(c), ElementsAre("relu0", "add0", "fully_connected2"));
  EXPECT_EQ(forward_before(c.cut("relu0"), c.profile), 2);
  EXPECT_EQ(forward_before(c.cut("add0"), c.profile), 5);  // the fan-out, too
}

TEST(TailCut, TheBestLiesBeforeTheSelectionAndSavesMost) {
  const CutCase c(chain());
  const TailTerms terms = c.terms(0.25);
  const TailSaving last = best_cut(terms, c.profile, {"fully_connected2.weight"});
  ASSERT_NE(last.cut, nullptr);
  EXPECT_EQ(last.cut->cut.value, "relu1");
  EXPECT_EQ(last.step_seconds, 5);
  EXPECT_EQ(last.seconds, 0.75 * 5);  // a quarter is paid for
  const TailSaving two =
      best_cut(terms, c.profile, {"fully_connected2.weight", "fully_connected1.weight"});
  EXPECT_EQ(two.cut->cut.value, "relu0");
  EXPECT_EQ(best_cut(terms, c.profile, {"fully_connected0.weight"}).cut, nullptr);
}

TEST(TailCut, NoneWhereEveryMapIsSeenOnce) {
  const CutCase c(chain());
  EXPECT_EQ(best_cut(c.terms(1), c.profile, {"fully_connected2.weight"}).cut, nullptr);
  EXPECT_EQ(best_cut({}, c.profile, {"fully_connected2.weight"}).cut, nullptr);
}

// Maps that are there already are paid for; a later cut has to be better than they are.
TEST(TailCut, MapsThatAreThereAreNotPaidForAgain) {
  const CutCase c(chain());
  TailTerms terms = c.terms(0.5);
  terms.kept = "relu0";
  terms.kept_computed = 0;
  EXPECT_EQ(best_cut(terms, c.profile, {"fully_connected2.weight"}).cut->cut.value, "relu0");
  terms.computed = 0.25;
  EXPECT_EQ(best_cut(terms, c.profile, {"fully_connected2.weight"}).cut->cut.value, "relu1");
}

TEST(TailCut, MapsWithoutRoomAreNotKept) {
  const CutCase c(chain());
  TailTerms terms = c.terms(0);
  terms.most_elements = 5;
  EXPECT_EQ(best_cut(terms, c.profile, {"fully_connected2.weight"}).cut->cut.value, "relu0");
  terms.most_elements = 4;
  EXPECT_EQ(best_cut(terms, c.profile, {"fully_connected2.weight"}).cut, nullptr);
}

}  // namespace
}  // namespace moil
