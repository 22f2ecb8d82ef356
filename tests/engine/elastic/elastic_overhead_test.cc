#include "engine/elastic/elastic_overhead.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/seconds.h"

namespace moil {
namespace {

using std::chrono::steady_clock;

class SlowSource final : public BatchSource {
 public:
  std::int64_t size() const override { return 8; }
  void read(std::span<const std::int64_t> indices, float* inputs, float* targets) override {
    ++reads;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (std::size_t i = 0; i < indices.size(); ++i) inputs[i] = targets[i] = 1;
  }
  int reads = 0;
};

TEST(ElasticOverhead, ReadingIsTimed) {
  SlowSource source;
  const std::vector<std::int64_t> samples{0, 1, 2};
  std::vector<float> inputs(3), targets(3);
  const auto start = steady_clock::now();
  const double seconds = read_seconds(source, samples, inputs, targets);
  EXPECT_GE(seconds, 0.002);
  EXPECT_LE(2 * seconds, seconds_since(start));  // the median: one took as long again
  EXPECT_GT(source.reads, 1);
  EXPECT_EQ(inputs, std::vector<float>(3, 1));
}

// A choice and its steps take ρ of as many full steps: 50 · (10 + 0.5) · ρ = 5 + 50 · (0.5 + 4.65).
TEST(ElasticOverhead, StepsGetWhatIsLeftOfRho) {
  const TimingProfile profile{{}, 2, 10};
  EXPECT_DOUBLE_EQ(allowed_step_seconds(profile, {}, 0.5, 1), 5);
  EXPECT_DOUBLE_EQ(allowed_step_seconds(profile, {.read = 0.5}, 0.5, 1), 4.75);
  EXPECT_DOUBLE_EQ(allowed_step_seconds(profile, {.read = 0.5, .choose = 5}, 0.5, 50), 4.65);
}

TEST(ElasticOverhead, TheSmallestShareLeavesTheSmallestStep) {
  const TimingProfile profile{{}, 2, 10};
  for (const ElasticOverhead overhead : {ElasticOverhead{}, {.read = 0.5}, {1, 5}, {.choose = 99}})
    EXPECT_GE(
        allowed_step_seconds(profile, overhead, smallest_share(profile, overhead, 0.3, 20), 20),
        3 - 1e-9);
  EXPECT_DOUBLE_EQ(smallest_share(profile, {}, 0.3, 20), 0.3);
}

TEST(ElasticOverhead, ShortRunsTrainNevertheless) {
  const TimingProfile profile{{}, 2, 10};
  EXPECT_DOUBLE_EQ(allowed_step_seconds(profile, {.choose = 100}, 0.5, 2), 4.5);
  EXPECT_DOUBLE_EQ(allowed_step_seconds(profile, {.read = 30}, 0.5, 2), 4.5);
}

}  // namespace
}  // namespace moil
