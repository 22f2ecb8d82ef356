#include "engine/train/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "engine/kernels/parallel.h"

namespace moil {
namespace {

GradientView view(const std::vector<float>& values) {
  return {values.data(), static_cast<std::int64_t>(values.size())};
}

TEST(GlobalNorm, OverAllTensorsTogether) {
  const std::vector<float> a = {3}, b(16, 1.0F), c;
  const std::vector<GradientView> views = {view(a), view(b), view(c)};
  EXPECT_DOUBLE_EQ(global_norm(views), 5);
  EXPECT_DOUBLE_EQ(global_norm({}), 0);
}

TEST(GlobalNorm, NeitherOverflowsNorDependsOnThreads) {
  const std::vector<float> large(100, 1e30F);
  const std::vector<GradientView> overflow = {view(large)};
  EXPECT_NEAR(global_norm(overflow), static_cast<double>(1e30F) * 10, 1e20);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(1000003);
  double expected = 0;
  for (float& v : values) {
    v = normal(random);
    expected += static_cast<double>(v) * v;
  }
  const std::vector<GradientView> views = {view(values)};
  const int before = thread_count();
  set_thread_count(1);
  const double one = global_norm(views);
  set_thread_count(3);
  const double three = global_norm(views);
  set_thread_count(before);
  EXPECT_EQ(one, three);
  EXPECT_NEAR(one, std::sqrt(expected), 1e-9 * one);
}

TEST(GlobalNorm, ShowsWhatIsNotFinite) {
  std::vector<float> values(50, 1.0F);
  values[49] = std::nanf("");
  const std::vector<GradientView> views = {view(values)};
  EXPECT_TRUE(std::isnan(global_norm(views)));
}

TEST(ClipFactor, OnlyEverShrinks) {
  EXPECT_EQ(clip_factor(0.5, 1), 1);
  EXPECT_NEAR(clip_factor(10, 1), 0.1, 1e-6);
  EXPECT_EQ(clip_factor(10, 0), 1);
  EXPECT_EQ(clip_factor(0, 1), 1);
}

}  // namespace
}  // namespace moil
