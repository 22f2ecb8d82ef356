#include "engine/train/prefetcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "tests/engine/train/toy_source.h"

namespace moil {
namespace {

using Samples = std::vector<std::int64_t>;
using testing::ToySource;

// The batch as the source itself would write it.
std::vector<float> read(ToySource& source, const Samples& samples, std::int64_t features) {
  std::vector<float> inputs(samples.size() * static_cast<std::size_t>(features));
  std::vector<float> targets(samples.size() * 3);
  source.read(samples, inputs.data(), targets.data());
  inputs.insert(inputs.end(), targets.begin(), targets.end());
  return inputs;
}

std::vector<float> contents(const Prefetcher::Batch& batch, std::size_t inputs,
                            std::size_t targets) {
  std::vector<float> all(batch.inputs, batch.inputs + inputs);
  all.insert(all.end(), batch.targets, batch.targets + targets);
  return all;
}

TEST(PrefetcherTest, GivesBatchesInTheOrderOfTheRequests) {
  ToySource source(30, 5), reference(30, 5);
  Prefetcher prefetcher(source, 2, 5, 3);
  Samples next{0, 1};
  prefetcher.request(next);
  for (std::int64_t i = 1; i < 12; ++i) {
    const Samples taken = next;
    const auto batch = prefetcher.take();
    next = {2 * i, 2 * i + 1};
    prefetcher.request(next);
    ASSERT_EQ(contents(batch, 10, 6), read(reference, taken, 5));
  }
  EXPECT_EQ(contents(prefetcher.take(), 10, 6), read(reference, next, 5));
}

TEST(PrefetcherTest, ABatchStaysWholeWhileTheNextIsRead) {
  ToySource source(30, 5), reference(30, 5);
  Prefetcher prefetcher(source, 2, 5, 3);
  const Samples first{3, 4}, second{9, 8};
  prefetcher.request(first);
  const auto batch = prefetcher.take();
  prefetcher.request(second);
  while (source.reads < 2) std::this_thread::yield();
  EXPECT_EQ(contents(batch, 10, 6), read(reference, first, 5));
  EXPECT_EQ(contents(prefetcher.take(), 10, 6), read(reference, second, 5));
}

TEST(PrefetcherTest, ErrorsOfTheSourceComeOutOfTakeAndEndWithIt) {
  ToySource source(30, 5), reference(30, 5);
  source.fails_at = 1;
  Prefetcher prefetcher(source, 2, 5, 3);
  const Samples samples{1, 2};
  prefetcher.request(samples);
  (void)prefetcher.take();
  prefetcher.request(samples);
  EXPECT_THROW((void)prefetcher.take(), std::runtime_error);
  source.fails_at = -1;
  prefetcher.request(samples);
  EXPECT_EQ(contents(prefetcher.take(), 10, 6), read(reference, samples, 5));
}

// A source that does not return before it is told to.
class SlowSource : public BatchSource {
 public:
  std::int64_t size() const override { return 4; }
  void read(std::span<const std::int64_t> samples, float*, float*) override {
    started.set_value();
    release.get_future().wait();
    sum = std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
  }
  std::promise<void> started, release;
  std::int64_t sum = 0;
};

TEST(PrefetcherTest, EndsWithARequestInTheAir) {
  SlowSource source;
  const Samples samples{1, 2};
  std::thread releaser;
  {
    Prefetcher prefetcher(source, 2, 5, 3);
    prefetcher.request(samples);
    source.started.get_future().wait();
    releaser = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      source.release.set_value();
    });
  }
  EXPECT_EQ(source.sum, 3);  // it was let finish
  releaser.join();
}

TEST(PrefetcherTest, EndsWithoutEverBeingAsked) {
  ToySource source(4, 5);
  const Prefetcher prefetcher(source, 2, 5, 3);
  EXPECT_EQ(prefetcher.bytes(), 2 * (2 * 5 + 2 * 3) * sizeof(float));
  EXPECT_EQ(source.reads, 0);
}

}  // namespace
}  // namespace moil
