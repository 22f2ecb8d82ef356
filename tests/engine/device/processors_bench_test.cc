// What scripts/bench processors makes of a device: every step beside the CPU's, and which seconds
// are results.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "bench/native/processors_bench/rows.h"
#include "engine/device/recorded_device.h"
#include "engine/model/preparation.h"
#include "tests/engine/device/updates_alone.h"
#include "tests/engine/model/models.h"
#include "tests/engine/opencl/opencl_device.h"

namespace moil {
namespace {

std::vector<bench::Agreement> agreement_where(std::function<void(SgdCoefficients&)> change) {
  return bench::measure_agreement(complete_model(test::chain_model()), 4,
                                  std::make_shared<test::UpdatesAlone>(std::move(change)));
}

TEST(ProcessorsBench, ComparesAgOfEveryLayerThatLearns) {
  const ModelDescription model = complete_model(test::chain_model());
  std::set<std::string> learn, compared;
  for (const Node& node : build_graph(model, 4).nodes)
    for (const WeightSpec& weight : node.weights)
      if (weight.trainable) learn.insert(node.name);
  for (const bench::Agreement& one : agreement_where([](SgdCoefficients&) {})) {
    EXPECT_EQ(one.step, "AG");
    EXPECT_EQ(one.max_relative_error, 0) << one.layer;
    compared.insert(one.layer);
  }
  EXPECT_EQ(compared, learn);
}

TEST(ProcessorsBench, SeesAnUpdateThatIsWrong) {
  const std::function<void(SgdCoefficients&)> wrong[] = {
      [](SgdCoefficients& k) { k.rate *= 1.01F; },
      [](SgdCoefficients& k) { k.momentum = 0.89F; },
      [](SgdCoefficients& k) { k.gradient_scale = -1; },
  };
  for (const auto& change : wrong)
    for (const bench::Agreement& one : agreement_where(change))
      EXPECT_GT(one.max_relative_error, 1e-4) << one.layer;
}

TEST(ProcessorsBench, ComparesEveryKindOfStepOnTheDevice) {
  const test::OpenclDevice device = test::opencl_device();
  MOIL_NEEDS_OPENCL(device);
  std::set<std::string> kinds;
  for (const bench::Agreement& one :
       bench::measure_agreement(complete_model(test::chain_model()), 4, device.processor)) {
    EXPECT_LT(one.max_relative_error, 1e-3) << one.layer << " " << one.step;
    kinds.insert(one.step);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"F", "CG", "CD", "AG"}));
}

TEST(ProcessorsBench, TellsInputsOfARecordFromResults) {
  RecordedDevice board;
  board.network = test::chain_model().name;
  std::set<std::string> inputs, results;
  for (const bench::Row& row : bench::recorded_rows({test::chain_model(), 4, true, 1}, board))
    (row.is_input ? inputs : results).insert(row.method);
  EXPECT_EQ(inputs, (std::set<std::string>{"cpu", "opencl"}));
  EXPECT_EQ(results, (std::set<std::string>{"step_wise", "layer_wise", "path"}));
}

}  // namespace
}  // namespace moil
