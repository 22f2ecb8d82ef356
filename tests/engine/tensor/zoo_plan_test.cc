// The plans of the models that ship: within 1% of the lower bound, whatever part of them trains.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "engine/device/conv/kernel_selector.h"
#include "engine/io/model_json.h"
#include "engine/model/freeze.h"
#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "engine/plan/network_plan.h"

namespace moil {
namespace {

constexpr const char* kLoss = "softmax_cross_entropy";

struct Prepared {
  ModelDescription model;
  PlanOptions options;
};

Prepared trained_by(const ModelDescription& model, const std::set<std::string>& layers) {
  Prepared result;
  result.model = prepare_training(model, kLoss, layers);
  result.options.training = true;
  result.options.optimizer_states = 1;
  result.options.trainable = trainable_weights(model, &layers);
  return result;
}

// What a night trains: the last n weight units behind the split, or the whole model.
Prepared training(const ModelDescription& model, std::optional<int> n) {
  const Freeze freeze = freeze_all_but_last(model, n);
  const ModelDescription head =
      freeze.split.empty() ? model : realize_slice(model, freeze.split, freeze.split_dims).head;
  return trained_by(head, freeze.trainable_layers);
}

// The last n units trained on the model's own inputs: what is frozen runs in every step.
Prepared training_uncut(const ModelDescription& model, int n) {
  return trained_by(model, freeze_all_but_last(model, n).trainable_layers);
}

// The requests without those that live at every order, which would hide what is lost.
std::vector<MemoryRequest> transient(const NetworkPlan& plan) {
  std::vector<MemoryRequest> requests;
  const auto& owners = plan.pool.owners();
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (!plan.pool.is_always(owners[i])) requests.push_back(plan.pool.requests()[i]);
  }
  return requests;
}

void expect_tight(const Prepared& prepared, std::int64_t batch) {
  KernelSelector::Options choose;
  choose.measure = false;
  KernelSelector kernels(choose);
  const Graph graph = build_graph(prepared.model, batch);
  const NetworkPlan plan = plan_network(graph, prepared.options, kernels);
  EXPECT_LE(static_cast<double>(plan.memory.total_bytes),
            1.01 * static_cast<double>(plan.lower_bound_bytes));
  const std::vector<MemoryRequest> requests = transient(plan);
  ASSERT_FALSE(requests.empty());
  EXPECT_LE(static_cast<double>(plan_memory(requests).total_bytes),
            1.01 * static_cast<double>(lower_bound_bytes(requests)))
      << requests.size() << " requests";
}

class ZooPlan : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  ModelDescription model_ = read_model(GetParam());
};

// Batch norm cannot train on a batch of one.
constexpr std::int64_t kTrainingBatches[] = {2, 8, 32, 64};

TEST_P(ZooPlan, InferenceIsWithinOnePercentOfTheBound) {
  for (const std::int64_t batch : {1, 32}) {
    SCOPED_TRACE("batch " + std::to_string(batch));
    expect_tight({realize_inference(model_), {}}, batch);
  }
}

TEST_P(ZooPlan, TrainingAllLayersIsWithinOnePercentOfTheBound) {
  for (const std::int64_t batch : kTrainingBatches) {
    SCOPED_TRACE("batch " + std::to_string(batch));
    expect_tight(training(model_, std::nullopt), batch);
  }
}

TEST_P(ZooPlan, TrainingTheLastLayersIsWithinOnePercentOfTheBound) {
  for (const std::int64_t batch : kTrainingBatches) {
    for (const int n : {1, 2, 4}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", last " + std::to_string(n));
      expect_tight(training(model_, n), batch);
      expect_tight(training_uncut(model_, n), batch);
    }
  }
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> result;
  const auto folder = std::filesystem::path(MOIL_SOURCE_DIR) / "config" / "models";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, ZooPlan, ::testing::ValuesIn(files()), [](const auto& test) {
  std::string name = test.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace moil
