#include "tests/engine/plan/execution_order.h"

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <random>

#include "base/error.h"

namespace moil {

bool operator==(const StepOrders& a, const StepOrders& b) {
  return a.forward == b.forward && a.compute_gradient == b.compute_gradient &&
         a.compute_derivative == b.compute_derivative && a.apply_gradient == b.apply_gradient;
}
void PrintTo(const StepOrders& o, std::ostream* out) {
  *out << "F " << o.forward << " CG " << o.compute_gradient << " CD " << o.compute_derivative
       << " AG " << o.apply_gradient;
}

namespace {

using Table = std::vector<StepOrders>;
constexpr OrderOptions k2022{OrderForm::k2022, false}, k2024{OrderForm::k2024, false},
    kClipped{OrderForm::k2024, true};

// The figures of both papers: X0 of L0 has the orders 0 and 7, or 0 and 9.
TEST(ExecutionOrderTest, ThreeLayersOf2022) {
  EXPECT_EQ(execution_orders({true, true, true}, k2022),
            (Table{{0, 7, 8, 8}, {1, 5, 6, 6}, {2, 3, 4, 4}}));
}

TEST(ExecutionOrderTest, ThreeLayersOf2024) {
  EXPECT_EQ(execution_orders({true, true, true}, k2024),
            (Table{{0, 9, 10, 11}, {1, 6, 7, 8}, {2, 3, 4, 5}}));
}

TEST(ExecutionOrderTest, ClippingAppliesAfterEveryGradient) {
  EXPECT_EQ(execution_orders({true, true, true}, kClipped),
            (Table{{0, 7, 8, 11}, {1, 5, 6, 10}, {2, 3, 4, 9}}));
}

// Four layers of which one does not train: at the input, inside and at the output.
TEST(ExecutionOrderTest, ALayerThatDoesNotTrainInAnyPlace) {
  const Table trained = {{0, 13, 14, 15}, {1, 10, 11, 12}, {2, 7, 8, 9}, {3, 4, 5, 6}};
  const Table clipped = {{0, 10, 11, 15}, {1, 8, 9, 14}, {2, 6, 7, 13}, {3, 4, 5, 12}};
  const Table of_2022 = {{0, 10, 11, 11}, {1, 8, 9, 9}, {2, 6, 7, 7}, {3, 4, 5, 5}};
  const auto one_order = [](Table table, std::size_t i) {
    table[i].compute_derivative = table[i].apply_gradient = table[i].compute_gradient;
    return table;
  };
  for (std::size_t i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    std::vector<bool> trainable(4, true);
    trainable[i] = false;
    EXPECT_EQ(execution_orders(trainable, k2024), one_order(trained, i));
    EXPECT_EQ(execution_orders(trainable, kClipped), one_order(clipped, i));
    EXPECT_EQ(execution_orders(trainable, k2022), of_2022);
  }
}

TEST(ExecutionOrderTest, OneLayerAndNone) {
  EXPECT_EQ(execution_orders({true}, k2024), (Table{{0, 1, 2, 3}}));
  EXPECT_EQ(execution_orders({true}, kClipped), (Table{{0, 1, 2, 3}}));
  EXPECT_EQ(execution_orders({true}, k2022), (Table{{0, 1, 2, 2}}));
  EXPECT_TRUE(execution_orders({}, k2024).empty());
}

TEST(ExecutionOrderTest, TheFormOf2022CannotClip) {
  EXPECT_THROW((void)execution_orders({true}, {OrderForm::k2022, true}), Error);
}

// Steps of different layers never share an order; a layer's own stand in the order F, CG, CD, AG;
// backward runs from the output to the input.
void check(const std::vector<bool>& trainable, const OrderOptions& options) {
  const Table orders = execution_orders(trainable, options);
  std::map<int, std::size_t> layer_at;
  int last_gradient = -1, first_applied = 1 << 30;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const StepOrders& o = orders[i];
    ASSERT_LT(o.forward, o.compute_gradient);
    ASSERT_LE(o.compute_gradient, o.compute_derivative);
    ASSERT_LE(o.compute_derivative, o.apply_gradient);
    if (i > 0) {
      ASSERT_LT(o.compute_derivative, orders[i - 1].compute_gradient);
    }
    for (const int order :
         {o.forward, o.compute_gradient, o.compute_derivative, o.apply_gradient}) {
      ASSERT_EQ(layer_at.emplace(order, i).first->second, i) << "order " << order;
    }
    last_gradient = std::max(last_gradient, o.compute_derivative);
    if (trainable[i]) first_applied = std::min(first_applied, o.apply_gradient);
  }
  if (options.clip_by_global_norm) {
    ASSERT_GT(first_applied, last_gradient);
  }
}

TEST(ExecutionOrderTest, NoTwoLayersShareAnOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<bool> trainable(1 + random() % 20);
    for (std::size_t i = 0; i < trainable.size(); ++i) trainable[i] = random() % 3 != 0;
    for (const OrderOptions& options : {k2022, k2024, kClipped}) check(trainable, options);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace moil
