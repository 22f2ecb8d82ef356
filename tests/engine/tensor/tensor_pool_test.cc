#include "engine/tensor/tensor_pool.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace moil {
namespace {

using Orders = std::vector<int>;

// A pool of tensors of 16 floats, unless said otherwise.
class TensorPoolTest : public ::testing::Test {
 protected:
  TensorId add(const Orders& orders, CreateMode mode = CreateMode::kCreate,
               TensorId target = kNoTensor, std::int64_t elements = 16) {
    const TensorId id = pool_.add({"t" + std::to_string(pool_.size()),
                                   {Dims{elements}},
                                   TensorKind::kActivation,
                                   mode,
                                   target});
    for (const int order : orders) pool_.use(id, order);
    return id;
  }
  TensorId modify_view(TensorId target, const Orders& orders) {
    return add(orders, CreateMode::kModifyView, target);
  }
  TensorId read_only_view(TensorId target, const Orders& orders) {
    return add(orders, CreateMode::kReadOnlyView, target);
  }
  // The lifetime of the memory that `id` lies in.
  std::pair<int, int> life(TensorId id) const {
    for (std::size_t r = 0; r < pool_.owners().size(); ++r) {
      if (pool_.owners()[r] == pool_.owner(id))
        return {pool_.requests()[r].first, pool_.requests()[r].last};
    }
    return {-1, -1};
  }

  TensorPool pool_;
};

TEST_F(TensorPoolTest, ATensorLivesFromItsFirstToItsLastOrder) {
  const TensorId t = add({7, 0, 7, 3});
  pool_.merge();
  EXPECT_EQ(pool_.owner(t), t);
  EXPECT_EQ(pool_.orders(t), (Orders{0, 3, 7}));
  EXPECT_EQ(life(t), std::pair(0, 7));
  EXPECT_EQ(pool_.requests()[0].bytes, 64u);
}

// 2022, figure 5: X1 ends at 1, where X2 begins.
TEST_F(TensorPoolTest, ModifyViewMergesWhereItsTargetEnds) {
  const TensorId x1 = add({0, 1}), x2 = modify_view(x1, {1, 2, 7});
  pool_.merge();
  EXPECT_EQ(pool_.owner(x2), x1);
  EXPECT_EQ(pool_.orders(x1), (Orders{0, 1, 2, 7}));
  EXPECT_EQ(pool_.owners().size(), 1u);
}

TEST_F(TensorPoolTest, ModifyViewIsATensorOfItsOwnWhereItsTargetIsReadLater) {
  const TensorId x1 = add({0, 1, 5}), x2 = modify_view(x1, {1, 2});
  pool_.merge();
  EXPECT_EQ(pool_.owner(x2), x2);
  EXPECT_EQ(life(x1), std::pair(0, 5));
  EXPECT_EQ(life(x2), std::pair(1, 2));
}

// 2024, figure 5: X3 is a flattened X2; both lie in X1.
TEST_F(TensorPoolTest, ReadOnlyViewAlwaysMerges) {
  const TensorId x1 = add({0, 1}), x2 = modify_view(x1, {1, 2, 7}), x3 = read_only_view(x2, {2, 3});
  pool_.merge();
  EXPECT_EQ(pool_.owner(x3), x1);
  EXPECT_EQ(pool_.orders(x3), (Orders{0, 1, 2, 3, 7}));
}

TEST_F(TensorPoolTest, ExtensionAlwaysMerges) {
  const TensorId weight = add({0, 9}), again = add({3}, CreateMode::kExtend, weight);
  pool_.merge();
  EXPECT_EQ(pool_.owner(again), weight);
  EXPECT_EQ(pool_.requests().size(), 1u);
}

// multi_out gives one value two names; an activation of the first may not overwrite it while the
// second is still to be read, whichever was added first.
TEST_F(TensorPoolTest, ModifyViewLooksAtEveryNameOfItsTarget) {
  const TensorId x = add({0, 1});
  const TensorId first = read_only_view(x, {1, 2}), second = read_only_view(x, {1, 4});
  const TensorId relu = modify_view(first, {2, 6});
  const TensorId tanh = modify_view(second, {4, 5});
  pool_.merge();
  EXPECT_EQ(pool_.owner(first), x);
  EXPECT_EQ(pool_.owner(second), x);
  EXPECT_EQ(pool_.owner(relu), relu);
  EXPECT_EQ(pool_.owner(tanh), x);  // nobody reads x behind 4
}

// A view's own later names count as well: its reader may be a name.
TEST_F(TensorPoolTest, NamesOfTheViewMergeWithIt) {
  const TensorId x = add({0, 1});
  const TensorId relu = modify_view(x, {1});
  const TensorId flat = read_only_view(relu, {2, 8});
  pool_.merge();
  EXPECT_EQ(pool_.owner(flat), x);
  EXPECT_EQ(life(x), std::pair(0, 8));
}

TEST_F(TensorPoolTest, ChainsOfModifyViewsBecomeOne) {
  TensorId last = add({0, 1});
  for (int i = 1; i < 6; ++i) last = modify_view(last, {i, i + 1});
  pool_.merge();
  EXPECT_EQ(pool_.owner(last), 0);
  EXPECT_EQ(life(last), std::pair(0, 6));
}

// The derivative form: views are added from the output on, with falling orders behind them.
TEST_F(TensorPoolTest, ViewsMergeByTheirOrdersNotByTheirIds) {
  const TensorId x = add({0, 3});
  const TensorId late = modify_view(x, {3, 9});
  const TensorId early = modify_view(late, {9, 12});
  pool_.merge();
  EXPECT_EQ(pool_.owner(early), x);
}

TEST_F(TensorPoolTest, WhatLivesAlwaysHasEveryOrder) {
  const TensorId weight = add({2});
  const TensorId last = add({11});
  pool_.use_always(weight);
  pool_.merge();
  EXPECT_TRUE(pool_.is_always(weight));
  EXPECT_EQ(life(weight), std::pair(0, 11));
  EXPECT_EQ(life(last), std::pair(11, 11));
}

TEST_F(TensorPoolTest, WhatLivesAlwaysIsNeitherOverwrittenNorMovedIntoATarget) {
  const TensorId weight = add({0}), view = modify_view(weight, {1});
  const TensorId value = add({0}), kept = modify_view(value, {1});
  pool_.use_always(weight);
  pool_.use_always(kept);
  pool_.merge();
  EXPECT_EQ(pool_.owner(view), view);
  EXPECT_EQ(pool_.owner(kept), kept);
  EXPECT_FALSE(pool_.is_always(value));
}

TEST_F(TensorPoolTest, ANameThatLivesAlwaysKeepsItsTarget) {
  const TensorId x = add({0, 1}), name = read_only_view(x, {2});
  pool_.use_always(name);
  const TensorId relu = modify_view(x, {2, 3});
  pool_.merge();
  EXPECT_TRUE(pool_.is_always(x));
  EXPECT_EQ(pool_.owner(relu), relu);
}

TEST_F(TensorPoolTest, WhatNobodyUsesHasNoMemory) {
  const TensorId unused = add({}), used = add({1});
  pool_.merge();
  EXPECT_EQ(pool_.owners(), (std::vector<TensorId>{used}));
  EXPECT_TRUE(pool_.orders(unused).empty());
}

TEST_F(TensorPoolTest, RefusesViewsOfNothing) {
  EXPECT_THROW(modify_view(kNoTensor, {}), Error);
  EXPECT_THROW(read_only_view(0, {}), Error);
}

TEST_F(TensorPoolTest, RefusesViewsLargerThanTheirTarget) {
  const TensorId x = add({0}, CreateMode::kCreate, kNoTensor, 4);
  EXPECT_THROW(add({1}, CreateMode::kModifyView, x, 5), Error);
  EXPECT_EQ(add({1}, CreateMode::kModifyView, x, 4), 1);
}

}  // namespace
}  // namespace moil
