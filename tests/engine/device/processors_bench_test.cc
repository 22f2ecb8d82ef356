// What scripts/bench processors makes of a device: every step beside the CPU's, and which seconds
// are results.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "bench/native/processors_bench/rows.h"
#include "engine/device/recorded_device.h"
#include "engine/kernels/rows/update.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"
#include "tests/engine/opencl/opencl_device.h"

namespace moil {
namespace {

class HostMemory final : public ProcessorMemory {
 public:
  HostMemory(std::span<std::byte> pool, std::span<const MemoryRange> ranges)
      : pool_(pool), ranges_(ranges.begin(), ranges.end()) {}
  void take(RangeId, bool) override {}
  void give(RangeId, bool, bool) override {}
  void retire(RangeId) override {}
  void finish() override {}
  bool is_lost() const override { return false; }
  float* at(RangeId range) const {
    return reinterpret_cast<float*>(&pool_[ranges_[static_cast<std::size_t>(range)].offset]);
  }

 private:
  std::span<std::byte> pool_;
  std::vector<MemoryRange> ranges_;
};

// It updates weights, by coefficients that `change` may spoil, and computes nothing else.
class UpdatesAlone final : public Processor {
 public:
  explicit UpdatesAlone(std::function<void(SgdCoefficients&)> change)
      : change_(std::move(change)) {}
  std::string_view name() const override { return "updates"; }
  std::string device() const override { return "updates alone"; }
  bool is_the_cpu() const override { return false; }
  bool shares_memory() const override { return true; }
  std::size_t alignment() const override { return 64; }
  std::unique_ptr<ProcessorStep> make_step(const Operation&, StepKind) override { return nullptr; }
  void update(ProcessorMemory& memory, const SgdCoefficients& k, const UpdateRanges& r) override {
    SgdCoefficients changed = k;
    change_(changed);
    const auto& host = dynamic_cast<HostMemory&>(memory);
    sgd_update(changed, host.at(r.weight), host.at(r.gradient), host.at(r.first_state), 0,
               r.elements);
  }
  void update(ProcessorMemory&, const AdamCoefficients&, const UpdateRanges&) override { FAIL(); }
  std::unique_ptr<ProcessorMemory> attach(std::span<std::byte> pool, std::size_t,
                                          std::span<const MemoryRange> ranges) override {
    return std::make_unique<HostMemory>(pool, ranges);
  }

 private:
  std::function<void(SgdCoefficients&)> change_;
};

std::vector<bench::Agreement> agreement_where(std::function<void(SgdCoefficients&)> change) {
  return bench::measure_agreement(complete_model(test::chain_model()), 4,
                                  std::make_shared<UpdatesAlone>(std::move(change)));
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
