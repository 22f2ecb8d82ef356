#include "engine/train/prefetcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "tests/engine/train/plain_batch.h"
#include "tests/engine/train/toy_source.h"

namespace moil {
namespace {

using Samples = std::vector<std::int64_t>;
using test::ToySource;

// The batch as the source itself would write it.
std::vector<float> read(ToySource& source, const Samples& samples, std::int64_t features) {
  std::vector<float> inputs(samples.size() * static_cast<std::size_t>(features));
  std::vector<float> targets(samples.size() * 3);
  test::read_plain(source, samples, inputs, targets);
  inputs.insert(inputs.end(), targets.begin(), targets.end());
  return inputs;
}

std::vector<float> contents(const BatchBuffer& buffer) {
  const auto inputs = buffer.batch().inputs[0].values, targets = buffer.batch().targets[0].values;
  std::vector<float> all(inputs.begin(), inputs.end());
  all.insert(all.end(), targets.begin(), targets.end());
  return all;
}

// Five features and three classes.
BatchShape shape() { return {{{"input", 5}}, {{"target", 3}}}; }

TEST(PrefetcherTest, GivesBatchesInTheOrderOfTheRequests) {
  ToySource source(30, 5), reference(30, 5);
  Prefetcher prefetcher(source, shape(), 2);
  Samples next{0, 1};
  prefetcher.request(next);
  for (std::int64_t i = 1; i < 12; ++i) {
    const Samples taken = next;
    const BatchBuffer& batch = prefetcher.take();
    next = {2 * i, 2 * i + 1};
    prefetcher.request(next);
    ASSERT_EQ(contents(batch), read(reference, taken, 5));
  }
  EXPECT_EQ(contents(prefetcher.take()), read(reference, next, 5));
}

TEST(PrefetcherTest, ABatchStaysWholeWhileTheNextIsRead) {
  ToySource source(30, 5), reference(30, 5);
  Prefetcher prefetcher(source, shape(), 2);
  const Samples first{3, 4}, second{9, 8};
  prefetcher.request(first);
  const BatchBuffer& batch = prefetcher.take();
  prefetcher.request(second);
  while (source.reads < 2) std::this_thread::yield();
  EXPECT_EQ(contents(batch), read(reference, first, 5));
  EXPECT_EQ(contents(prefetcher.take()), read(reference, second, 5));
}

TEST(PrefetcherTest, ErrorsOfTheSourceComeOutOfTakeAndEndWithIt) {
  ToySource source(30, 5), reference(30, 5);
  source.fails_at = 1;
  Prefetcher prefetcher(source, shape(), 2);
  const Samples samples{1, 2};
  prefetcher.request(samples);
  (void)prefetcher.take();
  prefetcher.request(samples);
  EXPECT_THROW((void)prefetcher.take(), std::runtime_error);
  source.fails_at = -1;
  prefetcher.request(samples);
  EXPECT_EQ(contents(prefetcher.take()), read(reference, samples, 5));
}

// A source that does not return before it is told to.
class SlowSource : public BatchSource {
 public:
  std::int64_t size() const override { return 4; }
  void read(std::span<const std::int64_t> samples, const Batch&) override {
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
    Prefetcher prefetcher(source, shape(), 2);
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
  const Prefetcher prefetcher(source, shape(), 2);
  EXPECT_EQ(prefetcher.bytes(), 2 * (2 * 5 + 2 * 3) * sizeof(float));
  EXPECT_EQ(source.reads, 0);
}

}  // namespace
}  // namespace moil
