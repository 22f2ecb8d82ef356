#include <gmock/gmock.h>

#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/engine/model/realizers/support.h"

namespace moil {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;

Properties unrolled(Properties more = {}) {
  more["units"] = std::int64_t{4};
  more["unroll"] = true;
  return more;
}

TEST(RecurrentRealizerTest, MakesACellOfEveryStep) {
  const ModelDescription model =
      ModelBuilder({3, 5}).layer("lstm", unrolled(), {}, "memory").fc(2).model();
  const ModelDescription found = realize_recurrent(model);
  EXPECT_THAT(test::equations(found),
              ElementsAre("memory/parts = unstack(input)", "memory = lstm_cell(memory/parts)",
                          "memory/1 = lstm_cell(memory/parts:1, memory, memory:1)",
                          "memory/2 = lstm_cell(memory/parts:2, memory/1, memory/1:1)",
                          "memory/steps = stack(memory, memory/1, memory/2)",
                          "fully_connected0 = fully_connected(memory/steps)"));
  EXPECT_TRUE(found.layers[1].shares.empty());
  EXPECT_EQ(found.layers[3].shares.at("bias_hh"), "memory.bias_hh");
}

TEST(RecurrentRealizerTest, GoesBackwardIfAskedAndGivesTheLastStateAlone) {
  const ModelDescription model =
      ModelBuilder({2, 5})
          .layer("gru", unrolled({{"reverse", true}}), {}, "memory")
          .layer("rnn", unrolled({{"sequence", false}, {"nonlinearity", "relu"}}), {}, "end")
          .model();
  const ModelDescription found = realize_recurrent(model);
  EXPECT_THAT(
      test::equations(found),
      ElementsAre("memory/parts = unstack(input)", "memory = gru_cell(memory/parts:1)",
                  "memory/1 = gru_cell(memory/parts, memory)",
                  "memory/steps = stack(memory/1, memory)", "end/parts = unstack(memory/steps)",
                  "end = rnn_cell(end/parts)", "end/1 = rnn_cell(end/parts:1, end)"));
  EXPECT_THAT(found.outputs, ElementsAre("end/1"));
  EXPECT_EQ(std::get<std::string>(found.layers.back().properties.at("nonlinearity")), "relu");
}

TEST(RecurrentRealizerTest, StatesPassOn) {
  ModelDescription model =
      ModelBuilder({2, 5}).layer("lstm", unrolled({{"state", true}}), {}, "first").model();
  model.layers.push_back({"second", "lstm", {"first", "first:1", "first:2"}, unrolled()});
  model.outputs = {"second"};
  const auto equations = test::equations(realize_recurrent(model));
  EXPECT_EQ(equations[5], "second = lstm_cell(second/parts, first/1, first/1:1)");
}

TEST(RecurrentRealizerTest, LeavesOthersAlone) {
  const ModelDescription model = test::residual_model();
  EXPECT_EQ(test::equations(realize_recurrent(model)), test::equations(model));
  const ModelDescription fused =
      ModelBuilder({3, 5}).layer("lstm", {{"units", std::int64_t{4}}}, {}, "memory").model();
  EXPECT_EQ(test::equations(complete_model(fused)), test::equations(fused));
}

}  // namespace
}  // namespace moil
