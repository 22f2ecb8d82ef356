#include "engine/tensor/swap_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>

#include "base/index.h"

namespace moil {
namespace {

constexpr std::size_t kMebibyte = 1 << 20;

// A disk of 100 MiB/s either way, under orders of 100 ms: 10 MiB an order, 8 with the slack.
SwapOptions options(std::size_t budget, int last_order) {
  SwapOptions o;
  o.mode = SwapMode::kProactive;
  o.budget_bytes = budget;
  o.times.order_seconds.assign(at(last_order) + 1, 0.1);
  o.times.read_bytes_per_second = o.times.write_bytes_per_second = 100.0 * kMebibyte;
  return o;
}

std::vector<Stay> widened(const TensorPool& pool, std::size_t budget, int last_order) {
  return plan_stays(pool, {.last_order = last_order}, options(budget, last_order), {},
                    /*slack=*/1.25);
}

class Pool {
 public:
  TensorId add(std::size_t bytes, const std::vector<int>& orders, bool always = false,
               Access access = Access::kWrite) {
    const TensorInfo info{Dims{static_cast<std::int64_t>(bytes / 4)}, Layout::kPlain};
    const TensorId id = pool_.add({"t" + std::to_string(count_++), info,
                                   always ? TensorKind::kWeight : TensorKind::kActivation,
                                   CreateMode::kCreate, kNoTensor});
    for (const int order : orders) pool_.use(id, order, access);
    if (always) pool_.use_always(id);
    return id;
  }
  const TensorPool& merged() {
    pool_.merge();
    return pool_;
  }

 private:
  TensorPool pool_;
  int count_ = 0;
};

std::size_t peak(const TensorPool& pool, const std::vector<Stay>& stays, int last) {
  std::vector<std::size_t> live(at(last) + 1, 0);
  for (const Stay& s : stays) {
    for (int o = s.from; o <= s.until; ++o) live[at(o)] += pool.spec(s.owner).info.bytes();
  }
  return *std::max_element(live.begin(), live.end());
}

std::vector<Stay> of(const std::vector<Stay>& stays, TensorId id) {
  std::vector<Stay> own;
  std::copy_if(stays.begin(), stays.end(), std::back_inserter(own),
               [&](const Stay& s) { return s.owner == id; });
  return own;
}

TEST(SwapBudget, CutsNothingThatFits) {
  Pool p;
  p.add(16 * kMebibyte, {0, 9});
  p.add(16 * kMebibyte, {3, 4});
  const auto stays = widened(p.merged(), 32 * kMebibyte, 9);
  EXPECT_FALSE(any_swapped(stays));
}

// The step in the middle takes the whole budget, so nothing may arrive during it; but there are
// orders enough before the load's use that have room.
TEST(SwapBudget, GivesRoomThatIsLeftToLoadsAhead) {
  Pool p;
  const TensorId waits = p.add(15 * kMebibyte, {0, 12});
  p.add(32 * kMebibyte, {5});
  const auto stays = widened(p.merged(), 32 * kMebibyte, 12);
  const auto own = of(stays, waits);
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(own[0].until, 2);  // 15 MiB take two orders
  EXPECT_EQ(own[1].from, 10);
}

TEST(SwapBudget, ShortensWindowsWhereMemoryIsShort) {
  Pool p;
  const TensorId waits = p.add(15 * kMebibyte, {0, 6});
  p.add(32 * kMebibyte, {5});
  const TensorPool& pool = p.merged();
  const auto stays = widened(pool, 32 * kMebibyte, 12);
  const auto own = of(stays, waits);
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(own[1].from, 6);   // it waits
  EXPECT_EQ(own[0].until, 2);  // storing need not
  EXPECT_LE(peak(pool, stays, 12), 32 * kMebibyte);
}

// The large step at 10 closes the window, which then grows into what a workspace left of the room.
TEST(SwapBudget, LeavesRoomForWorkspaces) {
  for (const std::size_t mebibytes : {1, 20}) {
    Pool p;
    const TensorId waits = p.add(15 * kMebibyte, {0, 12});
    p.add(32 * kMebibyte, {5});
    p.add(32 * kMebibyte, {10});
    const TensorId workspace = p.add(mebibytes * kMebibyte, {11});
    const TensorPool& pool = p.merged();
    const auto stays = plan_stays(pool, {.last_order = 12}, options(32 * kMebibyte, 12),
                                  {{workspace, 1 * kMebibyte}}, /*slack=*/2);
    ASSERT_EQ(of(stays, waits).size(), 2U);
    EXPECT_EQ(of(stays, waits)[1].from, mebibytes == 1 ? 11 : 12);
    EXPECT_LE(peak(pool, stays, 12), 32 * kMebibyte);
  }
}

// Either load takes two orders; there is one disk, so the earlier one begins before the other does.
TEST(SwapBudget, LoadsOfOneDiskAreNotPlannedAtTheSameTime) {
  Pool p;
  const TensorId later = p.add(15 * kMebibyte, {0, 12}), earlier = p.add(15 * kMebibyte, {0, 11});
  p.add(32 * kMebibyte, {5});
  const auto stays = plan_stays(p.merged(), {.last_order = 12}, options(32 * kMebibyte, 12));
  ASSERT_EQ(of(stays, later).size(), 2U);
  ASSERT_EQ(of(stays, earlier).size(), 2U);
  EXPECT_EQ(of(stays, later)[1].from, 10);
  EXPECT_EQ(of(stays, earlier)[1].from, 8);
}

// As a decoder's: each step reads the weights and leaves what backward reads.
TEST(SwapBudget, PlansManySteps) {
  constexpr int kSteps = 500, kLast = 2 * kSteps;
  Pool p;
  std::vector<int> all(kLast);
  std::iota(all.begin(), all.end(), 0);
  p.add(32 * kMebibyte, all, /*always=*/true, Access::kRead);
  for (int step = 0; step < kSteps; ++step) p.add(kMebibyte, {step, kLast - 1 - step});
  const TensorPool& pool = p.merged();
  const std::size_t budget = 100 * kMebibyte;
  const auto stays = widened(pool, budget, kLast);
  EXPECT_LE(peak(pool, stays, kLast), budget);
  const auto moved = traffic(pool, stays, 1);
  EXPECT_LE(moved.read_bytes, static_cast<std::size_t>(kSteps) * kMebibyte);  // not the weights
}

void add_random(Pool& pool, std::mt19937& random, int last) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0, n = 3 + below(12); i < n; ++i) {
    std::vector<int> orders;
    for (int u = 0, uses = 1 + below(5); u < uses; ++u) orders.push_back(below(last + 1));
    pool.add(kMebibyte * static_cast<std::size_t>(1 + below(16)), orders, below(3) == 0,
             below(2) == 0 ? Access::kRead : Access::kWrite);
  }
}

void expect_whole_and_apart(const std::vector<Stay>& own, const std::vector<TensorUse>& uses) {
  for (std::size_t s = 0; s < own.size(); ++s) {
    EXPECT_LE(own[s].from, own[s].first);
    EXPECT_LE(own[s].last, own[s].until);
    EXPECT_TRUE(s == 0 || own[s - 1].until < own[s].from);
  }
  for (const TensorUse& use : uses) {
    EXPECT_TRUE(std::any_of(own.begin(), own.end(), [&](const Stay& s) {
      return s.first <= use.order && use.order <= s.last;
    }));
  }
}

// Whatever the tensors: each use is in a stay, a tensor's stays are apart, and the budget is kept
// if cutting everything keeps it.
TEST(SwapBudget, PlansRandomPools) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const int last = 10 + static_cast<int>(random() % 30);
    Pool p;
    add_random(p, random, last);
    const TensorPool& pool = p.merged();
    SwapOptions all = options(0, last);
    all.mode = SwapMode::kOnDemand;
    const std::size_t budget = peak(pool, plan_stays(pool, {.last_order = last}, all), last);
    const auto stays = widened(pool, budget, last);
    EXPECT_LE(peak(pool, stays, last), budget);
    for (const TensorId owner : pool.owners())
      expect_whole_and_apart(of(stays, owner), pool.uses(owner));
  }
}

}  // namespace
}  // namespace moil
