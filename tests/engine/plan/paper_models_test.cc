// Models A, B and C of NNTrainer 2022 (§4.1, figures 4 to 6): the execution orders of their tensors
// in both forms, and what Algorithm 1 leaves to allocate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "engine/layers/factory.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"
#include "tests/engine/plan/execution_order.h"

namespace moil {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

using Orders = std::vector<int>;
constexpr Lifespan F = Lifespan::kForward, CG = Lifespan::kComputeGradient,
                   CD = Lifespan::kComputeDerivative, M = Lifespan::kMax;
// The engine's layers have no code at AG.
constexpr Lifespan AG = static_cast<Lifespan>(128), B = CG | CD | AG;
using Mode = std::optional<CreateMode>;
constexpr Mode P = std::nullopt,  // memory held outside
    C = CreateMode::kCreate, MV = CreateMode::kModifyView, RV = CreateMode::kReadOnlyView,
               E = CreateMode::kExtend;

// A row of a figure: a tensor, how it is made (of which other), and when which layers use it.
struct PaperRow {
  std::string tensor;
  Mode mode;
  std::string target;
  std::vector<std::pair<std::size_t, Lifespan>> uses;
};

struct Model {
  std::vector<bool> trainable;
  std::vector<PaperRow> rows;
};

// Lines 3 to 23 of Algorithm 1.
class Algorithm1 {
 public:
  Algorithm1(const Model& model, OrderForm form)
      : orders_(execution_orders(model.trainable, {form, false})) {
    for (const PaperRow& row : model.rows) {
      const TensorId target = row.target.empty() ? kNoTensor : ids_.at(row.target);
      const TensorId id = pool_.add({row.tensor,
                                     {Dims{16}},
                                     TensorKind::kActivation,
                                     row.mode.value_or(CreateMode::kCreate),
                                     target});
      if (!row.mode) outside_.insert(id);
      ids_[row.tensor] = id;
      for (const auto& [layer, lifespan] : row.uses) use(id, orders_[layer], lifespan);
    }
    for (const auto& [name, id] : ids_) before_[name] = own_[id];
    pool_.merge();
  }

  // The orders of a tensor by itself.
  Orders own(const std::string& tensor) const {
    const auto& set = before_.at(tensor);
    return {set.begin(), set.end()};
  }
  // What is left, with the orders of all that was merged into it.
  std::map<std::string, Orders> left() const {
    std::map<std::string, Orders> result;
    for (const TensorId id : pool_.owners()) {
      if (outside_.contains(id)) continue;
      result[pool_.spec(id).name] = pool_.is_always(id) ? Orders{} : pool_.orders(id);
    }
    return result;
  }

 private:
  void use(TensorId id, const StepOrders& o, Lifespan lifespan) {
    const auto at = [&](Lifespan step, int order) {
      if (!has(lifespan, step)) return;
      pool_.use(id, order);
      own_[id].insert(order);
    };
    at(F, o.forward);
    at(CG, o.compute_gradient);
    at(CD, o.compute_derivative);
    at(AG, o.apply_gradient);
    if (has(lifespan, M)) pool_.use_always(id);
  }

  std::vector<StepOrders> orders_;
  TensorPool pool_;
  std::map<std::string, TensorId> ids_;
  std::set<TensorId> outside_;
  std::map<TensorId, std::set<int>> own_;
  std::map<std::string, std::set<int>> before_;
};

// Three layers with weights. X0 is held outside.
Model model_a() {
  return {{true, true, true},
          {{"X0", P, "", {{0, F | CG}}},
           {"X1", C, "", {{0, F}, {1, F | CG}}},
           {"X2", C, "", {{1, F}, {2, F | CG}}},
           {"X3", C, "", {{2, F}}},
           {"D3", C, "", {{2, CG | CD}}},
           {"D2", C, "", {{2, CD}, {1, CG | CD}}},
           {"D1", C, "", {{1, CD}, {0, CG}}},
           {"W0", C, "", {{0, M}}},
           {"W1", C, "", {{1, M}}},
           {"W2", C, "", {{2, M}}},
           {"G0", C, "", {{0, CG | AG}}},
           {"G1", C, "", {{1, CG | AG}}},
           {"G2", C, "", {{2, CG | AG}}}}};
}

// The layer in the middle is an activation that works in place.
Model model_b() {
  return {{true, false, true},
          {{"X0", P, "", {{0, F | CG}}},
           {"X1", C, "", {{0, F}, {1, F}}},
           {"X2", MV, "X1", {{1, F | CD}, {2, F | CG}}},
           {"X3", C, "", {{2, F}}},
           {"D3", C, "", {{2, CG | CD}}},
           {"D2", C, "", {{2, CD}, {1, CD}}},
           {"D1", MV, "D2", {{1, CD}, {0, CG}}},
           {"W0", C, "", {{0, M}}},
           {"W2", C, "", {{2, M}}},
           {"G0", C, "", {{0, CG | AG}}},
           {"G2", C, "", {{2, CG | AG}}}}};
}

// An activation, then a flatten layer.
Model model_c() {
  return {{true, false, false},
          {{"X0", P, "", {{0, F | CG}}},
           {"X1", C, "", {{0, F}, {1, F}}},
           {"X2", MV, "X1", {{1, F | CD}, {2, F}}},
           {"X3", RV, "X2", {{2, F}}},
           {"D3", C, "", {{2, CD}}},
           {"D2", RV, "D3", {{2, CD}, {1, CD}}},
           {"D1", MV, "D2", {{1, CD}, {0, CG}}},
           {"W0", C, "", {{0, M}}},
           {"G0", C, "", {{0, CG | AG}}}}};
}

using Left = std::map<std::string, Orders>;

TEST(PaperModelsTest, OfModelAEverythingIsLeft) {
  const Algorithm1 in_2022(model_a(), OrderForm::k2022), in_2024(model_a(), OrderForm::k2024);
  EXPECT_EQ(in_2022.own("X0"), (Orders{0, 7}));
  EXPECT_EQ(in_2024.own("X0"), (Orders{0, 9}));
  for (const Algorithm1* form : {&in_2022, &in_2024}) {
    const Left left = form->left();
    for (const PaperRow& row : model_a().rows) {
      if (row.mode == P) continue;
      const bool always = row.uses[0].second == M;
      EXPECT_EQ(left.at(row.tensor), always ? Orders{} : form->own(row.tensor)) << row.tensor;
    }
    EXPECT_EQ(left.size(), model_a().rows.size() - 1);
  }
  EXPECT_EQ(in_2022.own("D2"), (Orders{4, 5, 6}));
  EXPECT_EQ(in_2024.own("D2"), (Orders{4, 6, 7}));
  EXPECT_EQ(in_2022.own("G0"), (Orders{7, 8}));
  EXPECT_EQ(in_2024.own("G0"), (Orders{9, 11}));
}

TEST(PaperModelsTest, OfModelBTheActivationsTensorsAreGone) {
  const Algorithm1 in_2022(model_b(), OrderForm::k2022), in_2024(model_b(), OrderForm::k2024);
  EXPECT_EQ(in_2022.own("X1"), (Orders{0, 1}));
  EXPECT_EQ(in_2022.own("X2"), (Orders{1, 2, 3, 6}));
  EXPECT_EQ(in_2022.left(), (Left{{"X1", {0, 1, 2, 3, 6}},
                                  {"X3", {2}},
                                  {"D3", {3, 4}},
                                  {"D2", {4, 6, 7}},
                                  {"W0", {}},
                                  {"W2", {}},
                                  {"G0", {7, 8}},
                                  {"G2", {3, 4}}}));
  EXPECT_EQ(in_2024.left(), (Left{{"X1", {0, 1, 2, 3, 6}},
                                  {"X3", {2}},
                                  {"D3", {3, 4}},
                                  {"D2", {4, 6, 9}},
                                  {"W0", {}},
                                  {"W2", {}},
                                  {"G0", {9, 11}},
                                  {"G2", {3, 5}}}));
}

// Beside X0, which is held outside, "only X1, D3, dW0 and W0 are required".
TEST(PaperModelsTest, OfModelCTheFlattenedTensorsAreGoneToo) {
  const Algorithm1 in_2022(model_c(), OrderForm::k2022), in_2024(model_c(), OrderForm::k2024);
  EXPECT_EQ(in_2022.own("X2").back(), 6);   // later than
  EXPECT_EQ(in_2022.own("X3").front(), 2);  // the first order of its read-only view
  EXPECT_EQ(in_2022.left(),
            (Left{{"X1", {0, 1, 2, 6}}, {"D3", {4, 6, 7}}, {"W0", {}}, {"G0", {7, 8}}}));
  EXPECT_EQ(in_2024.left(),
            (Left{{"X1", {0, 1, 2, 6}}, {"D3", {3, 6, 9}}, {"W0", {}}, {"G0", {9, 11}}}));
}

// An activation whose derivative is computed from its input keeps both.
TEST(PaperModelsTest, AModifyViewIsLeftWhereItsTargetIsReadLater) {
  Model model = model_b();
  model.rows[1].uses = {{0, F}, {1, F | CD}};
  const auto left = Algorithm1(model, OrderForm::k2022).left();
  EXPECT_EQ(left.at("X1"), (Orders{0, 1, 6}));
  EXPECT_EQ(left.at("X2"), (Orders{1, 2, 3, 6}));
}

// One layer, unrolled into two: the second's weights and gradients are the first's, extended.
TEST(PaperModelsTest, AnUnrolledLayersWeightsAreOne) {
  const Model model = {{true, true},
                       {{"W", C, "", {{0, B}}},
                        {"W'", E, "W", {{1, B}}},
                        {"G", C, "", {{0, CG}}},
                        {"G'", E, "G", {{1, CG}}}}};
  EXPECT_EQ(Algorithm1(model, OrderForm::k2024).left(),
            (Left{{"W", {2, 3, 4, 5, 6, 7}}, {"G", {2, 5}}}));
  EXPECT_EQ(Algorithm1(model, OrderForm::k2022).left(), (Left{{"W", {2, 3, 4, 5}}, {"G", {2, 4}}}));
}

// What the engine itself leaves of the three, with a loss behind them: values and derivatives.
std::vector<std::string> allocated(const ModelDescription& model) {
  PlanOptions options;
  options.training = true;
  options.trainable = trainable_weights(model, nullptr);
  KernelSelector kernels = test::fixed_kernels();
  const NetworkPlan plan =
      plan_network(build_graph(test::prepared(model, "mse"), 4), options, kernels);
  std::vector<std::string> names;
  for (const TensorId id : plan.pool.owners()) {
    const TensorSpec& spec = plan.pool.spec(id);
    if (spec.kind == TensorKind::kActivation || spec.kind == TensorKind::kDerivative)
      names.push_back(spec.name);
  }
  return names;
}

TEST(PaperModelsTest, TheEngineAllocatesWhatTheFiguresDo) {
  test::ModelBuilder a({8}), b({8}), c({8});
  EXPECT_THAT(allocated(a.fc(6).fc(5).fc(4).model()),
              UnorderedElementsAre("fully_connected0", "fully_connected1", "fully_connected2",
                                   "loss", "fully_connected2/derivative",
                                   "fully_connected1/derivative", "fully_connected0/derivative"));
  EXPECT_THAT(allocated(b.fc(6).layer("sigmoid").fc(4).model()),
              UnorderedElementsAre("fully_connected0", "fully_connected1", "loss",
                                   "fully_connected1/derivative", "sigmoid0/derivative"));
  EXPECT_THAT(allocated(c.fc(6).layer("sigmoid").layer("flatten").model()),
              UnorderedElementsAre("fully_connected0", "loss", "flatten0/derivative"));
}

// Keeps a saved tensor of every lifespan; computes nothing.
class Lifespans final : public Layer {
 public:
  std::string_view type() const override { return "lifespans"; }
  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    return {inputs[0]};
  }
  std::vector<WeightSpec> weights(std::span<const TensorInfo>) const override {
    WeightSpec weight;
    weight.name = "weight";
    weight.dims = Dims{1};
    return {weight};
  }
  LayerPlan plan(const LayerSetup&) override {
    LayerPlan plan;
    plan.saved = {
        {"F", 64, F}, {"CG", 64, CG}, {"CD", 64, CD}, {"backward", 64, CG | CD}, {"M", 64, M}};
    return plan;
  }
  void forward(const LayerRun&) override {}
};

using Steps = std::vector<std::string>;

// The steps of lifespans F, CG, CD and both of the second of four layers.
std::vector<Steps> steps_of_lifespans(bool clips, bool trained) {
  register_layer("lifespans", [](const std::string&, const Properties&) {
    return std::make_unique<Lifespans>();
  });
  const ModelDescription model = test::ModelBuilder({4}).fc(4).layer("lifespans").fc(3).model();
  PlanOptions options;
  options.training = true;
  options.clip_by_global_norm = clips;
  options.trainable = {"fully_connected0.weight", "fully_connected1.weight"};
  if (trained) options.trainable.insert("lifespans0.weight");
  KernelSelector kernels = test::fixed_kernels();
  const NetworkPlan plan =
      plan_network(build_graph(prepare_training(model, "mse", {}), 4), options, kernels);
  std::vector<Steps> result;
  const auto& saved = plan.nodes[1].saved;
  for (std::size_t i = 0; i + 1 < saved.size(); ++i) {
    Steps steps;
    if (saved[i] != kNoTensor) {
      for (const int order : plan.pool.orders(saved[i])) {
        const Instruction& step = plan.program[static_cast<std::size_t>(order)];
        EXPECT_EQ(step.node, 1);
        steps.push_back(to_string(step.kind));
      }
    }
    result.push_back(steps);
  }
  EXPECT_TRUE(plan.pool.is_always(saved.back()));
  return result;
}

TEST(PaperModelsTest, LifespansAreTheOrdersOfTheirSteps) {
  for (const bool clips : {false, true}) {
    EXPECT_THAT(steps_of_lifespans(clips, true),
                ElementsAre(Steps{"F"}, Steps{"CG"}, Steps{"CD"}, Steps{"CG", "CD"}));
    EXPECT_THAT(steps_of_lifespans(clips, false),
                ElementsAre(Steps{"F"}, Steps{}, Steps{"CD"}, Steps{"CD"}));
  }
}

// What runs if any part of a chain of four trains, by the rule alone.
std::vector<std::string> expected_steps(const std::vector<bool>& trains, bool clipped) {
  std::vector<std::string> steps, applied;
  for (int i = 0; i < 4; ++i) steps.push_back("F" + std::to_string(i));
  steps.push_back("F4");  // the loss
  int first = 0;
  while (!trains[static_cast<std::size_t>(first)]) ++first;
  steps.push_back("CD4");
  for (int i = 3; i >= first; --i) {
    const std::string layer = std::to_string(i);
    const bool trained = trains[static_cast<std::size_t>(i)];
    if (trained) steps.push_back("CG" + layer);
    if (i > first) steps.push_back("CD" + layer);
    if (trained) (clipped ? applied : steps).push_back("AG" + layer);
  }
  steps.insert(steps.end(), applied.begin(), applied.end());
  return steps;
}

TEST(PaperModelsTest, LayersThatDoNotTrainMayStandAnywhere) {
  const ModelDescription model =
      prepare_training(test::ModelBuilder({4}).fc(4).fc(4).fc(4).fc(3).model(), "mse", {});
  for (unsigned set = 1; set < 16; ++set) {
    for (const bool clipped : {false, true}) {
      SCOPED_TRACE(std::to_string(set) + (clipped ? ", clipped" : ""));
      PlanOptions options;
      options.training = true;
      options.clip_by_global_norm = clipped;
      std::vector<bool> trains;
      for (unsigned i = 0; i < 4; ++i) {
        trains.push_back((set >> i & 1) != 0);
        if (trains[i]) options.trainable.insert("fully_connected" + std::to_string(i) + ".weight");
      }
      KernelSelector kernels = test::fixed_kernels();
      const NetworkPlan plan = plan_network(build_graph(model, 4), options, kernels);
      std::vector<std::string> steps;
      for (const Instruction& s : plan.program)
        steps.push_back(to_string(s.kind) + std::to_string(s.node));
      EXPECT_EQ(steps, expected_steps(trains, clipped));
    }
  }
}

}  // namespace
}  // namespace moil
