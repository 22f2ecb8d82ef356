// Quota, eviction, gc and forget: what leaves, what stays, and what is left in the file.
#include <sys/stat.h>

#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

constexpr std::size_t kValueElements = 1500;  // two pages a value
constexpr std::uint64_t kEntryBytes = 2 * 4096 + 44;

std::vector<int> models_left(FeatureCache& cache) {
  std::vector<int> left;
  for (const ModelStats& stats : cache.stats().models) {
    for (int m = 0; m < 10; ++m) {
      if (stats.id == model(m) && stats.entries > 0) left.push_back(m);
    }
  }
  std::sort(left.begin(), left.end());
  return left;
}

TEST(Quota, EvictsTheLeastRecentlyUsedThatNobodyProtects) {
  const TempFolder folder;
  std::int64_t time = 100;
  {
    FeatureCache cache(folder.cache(), {.clock = [&] { return time++; }});
    for (const int m : {1, 2, 3}) {
      cache.use_model(model(m), "model " + std::to_string(m));
      fill(cache, m, 10, kValueElements);
    }
    cache.use_model(model(1), "model 1");  // now 2 is the oldest
  }
  FeatureCache cache(folder.cache(),
                     {.quota_bytes = 35 * kEntryBytes, .clock = [&] { return time++; }});
  cache.use_model(model(4), "model 4");
  fill(cache, 4, 10, kValueElements);
  EXPECT_EQ(models_left(cache), (std::vector<int>{1, 3, 4}));
  const ModelId keep[] = {model(3)};
  cache.protect(keep);
  fill(cache, 5, 10, kValueElements);  // 3 is older than 1, but protected
  EXPECT_EQ(models_left(cache), (std::vector<int>{3, 4, 5}));
  EXPECT_LE(cache.stats().bytes, 35 * kEntryBytes);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(Quota, WhoEvictsNothingTakesWhatRoomIsLeft) {
  const TempFolder folder;
  {
    FeatureCache cache(folder.cache());
    cache.use_model(model(1), "of a night that has it open");
    fill(cache, 1, 10, kValueElements);
  }
  FeatureCache cache(folder.cache(), {.quota_bytes = 15 * kEntryBytes, .evicts = false});
  cache.use_model(model(2), "a look by day");
  for (std::uint32_t i = 0; i < 8; ++i) cache.put(key_of(2, i), features(i, kValueElements));
  EXPECT_ERROR(cache.flush(), ErrorCode::kResourceExhausted, "quota");
  EXPECT_EQ(models_left(cache), (std::vector<int>{1, 2}));
  EXPECT_EQ(cache.stats().entries, 15u);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(Quota, RefusesWithBothNumbersAndKeepsWhatFits) {
  const TempFolder folder;
  FeatureCache cache(folder.cache(), {.quota_bytes = 5 * kEntryBytes});
  cache.use_model(model(1), "the only one");
  for (std::uint32_t i = 0; i < 8; ++i) cache.put(key_of(1, i), features(i, kValueElements));
  EXPECT_ERROR(cache.flush(), ErrorCode::kResourceExhausted,
               "quota of " + std::to_string(5 * kEntryBytes) + " bytes");
  EXPECT_EQ(cache.stats().entries, 5u);
  EXPECT_EQ(cache.stats().bytes, 5 * kEntryBytes);
  cache.put(key_of(1, 0), features(9, kValueElements));  // replacing needs no more room
  cache.flush();
  EXPECT_EQ(get(cache, key_of(1, 0), kValueElements), features(9, kValueElements));
  cache.put(key_of(1, 70), features(1, kValueElements));
  const auto error = caught([&] { cache.flush(); });
  EXPECT_NE(error.text.find(std::to_string(kEntryBytes) + " more are needed for 1 "),
            std::string::npos)
      << error.text;
  EXPECT_TRUE(cache.verify().ok());
}

TEST(Quota, AStampOfAClockThatWasWrongProtectsNothing) {
  const TempFolder folder;
  std::int64_t time = 4'000'000'000;  // once it was 2096
  FeatureCache cache(folder.cache(),
                     {.quota_bytes = 25 * kEntryBytes, .clock = [&] { return time; }});
  fill(cache, 1, 10, kValueElements);
  time = 1'800'000'000;
  fill(cache, 2, 10, kValueElements);
  fill(cache, 3, 10, kValueElements);
  EXPECT_EQ(models_left(cache), (std::vector<int>{2, 3}));
}

// A disk of which others take their share, too.
class DiskFloor : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kFloor = 100 << 20;
  Options options() {
    Options options;
    options.leave_free_bytes = kFloor;
    options.batch_entries = 8;
    options.free_bytes = [this] { return std::optional(free_ - std::min(free_, on_disk())); };
    return options;
  }
  // What was taken since `free_` was set.
  std::uint64_t on_disk() const {
    struct stat file {};
    if (::stat(folder_.data().c_str(), &file) != 0) return 0;
    return static_cast<std::uint64_t>(file.st_blocks) * 512 - before_;
  }
  void set_free(std::uint64_t bytes) {
    before_ = 0;
    before_ = on_disk();
    free_ = bytes;
  }
  TempFolder folder_;
  std::uint64_t free_ = kFloor, before_ = 0;
};

TEST_F(DiskFloor, TheCacheLeavesIt) {
  set_free(kFloor + 100 * kEntryBytes);
  FeatureCache cache(folder_.cache(), options());
  cache.use_model(model(1), "the only one");
  EXPECT_ERROR(fill(cache, 1, 400, kValueElements), ErrorCode::kResourceExhausted,
               "are to stay free) is reached");
  EXPECT_GE(cache.stats().entries, 80u);
  EXPECT_LE(cache.stats().entries, 110u);
  EXPECT_LE(on_disk(), 120 * kEntryBytes);
  EXPECT_TRUE(cache.verify().ok());
}

TEST_F(DiskFloor, WhatNobodyUsesMakesRoom) {
  set_free(kFloor * 10);
  {
    FeatureCache cache(folder_.cache(), options());
    fill(cache, 1, 100, kValueElements);
  }
  set_free(kFloor);
  FeatureCache cache(folder_.cache(), options());
  fill(cache, 2, 80, kValueElements);
  EXPECT_EQ(models_left(cache), (std::vector<int>{2}));
  EXPECT_EQ(cache.stats().entries, 80u);
  EXPECT_LE(on_disk(), 20 * kEntryBytes) << "into the pages that the file had";
  EXPECT_TRUE(cache.verify().ok());
}

TEST_F(DiskFloor, BelowItNothingIsAdded) {
  set_free(kFloor / 2);
  FeatureCache cache(folder_.cache(), options());
  cache.use_model(model(1), "the only one");
  EXPECT_ERROR(fill(cache, 1, 50, kValueElements), ErrorCode::kResourceExhausted, "is reached");
  EXPECT_EQ(cache.stats().entries, 0u);
}

// A year of nights under a quota: the file must not creep far beyond it.
TEST(Quota, FreedPagesAreUsedAgain) {
  const TempFolder folder;
  FeatureCache cache(folder.cache(), {.quota_bytes = 60 * kEntryBytes, .batch_entries = 8});
  for (int night = 0; night < 40; ++night) fill(cache, night, 25, kValueElements);
  const CacheStats stats = cache.stats();
  EXPECT_LE(stats.bytes, stats.quota_bytes);
  EXPECT_LE(stats.file_bytes, stats.quota_bytes * 2);
  EXPECT_TRUE(cache.verify().ok());
  EXPECT_EQ(cache.verify().leaked_pages, 0u);
}

TEST(Gc, RemovesWhatNoModelUsesAndGivesTheSpaceBack) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  for (const int m : {1, 2, 3}) fill(cache, m, 1100, kValueElements);
  cache.use_model(model(3), "at work");
  const CacheStats before = cache.stats();
  std::vector<std::uint64_t> steps;
  const ModelId in_use[] = {model(1)};
  const Removed removed = cache.gc(in_use, {.progress =
                                                [&](std::uint64_t done, std::uint64_t total) {
                                                  steps.push_back(done);
                                                  EXPECT_EQ(total, 1100u);
                                                },
                                            .stop = {}});
  EXPECT_EQ(removed.entries, 1100u);
  EXPECT_EQ(removed.bytes, 1100 * kEntryBytes);
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{0, 1024, 1100}));
  EXPECT_EQ(models_left(cache), (std::vector<int>{1, 3}));
  const CacheStats after = cache.stats();
  EXPECT_EQ(after.entries, 2200u);
  EXPECT_LT(after.disk_bytes + removed.bytes / 10 * 9, before.disk_bytes);
  EXPECT_EQ(get(cache, key_of(1, 7), kValueElements), features(7, kValueElements));
  fill(cache, 4, 1100, kValueElements);  // into the holes
  EXPECT_LT(cache.stats().file_bytes, before.file_bytes * 11 / 10);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(Gc, StopsWhenAskedAndStaysConsistent) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  fill(cache, 1, 2500, 10);
  std::stop_source stop;
  const Watch watch{.progress =
                        [&](std::uint64_t done, std::uint64_t) {
                          if (done > 0) stop.request_stop();
                        },
                    .stop = stop.get_token()};
  EXPECT_ERROR(cache.gc({}, watch), ErrorCode::kCancelled, "stopped after 2048");
  EXPECT_EQ(cache.stats().entries, 452u);
  EXPECT_TRUE(cache.verify().ok());
  EXPECT_EQ(cache.gc({}).entries, 452u);
  EXPECT_TRUE(cache.stats().models.empty());
}

TEST(Forget, RemovesEveryViewUnderEveryModel) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  for (const int m : {1, 2, 3}) {
    fill(cache, m, 20, kValueElements);
    for (const std::uint16_t view : {1, 2, 0x8001, 0xffff})
      cache.put(key_of(m, 5, view), features(view, kValueElements));
  }
  cache.flush();
  for (const int m : {1, 4})  // wait
    cache.put(key_of(m, 5, 7), features(7, kValueElements));
  EXPECT_EQ(cache.forget(sample(5)).entries, 15u);
  cache.flush();
  for (const int m : {1, 2, 3, 4})
    for (const std::uint16_t view : {0, 1, 2, 7, 0x8001, 0xffff})
      EXPECT_FALSE(has(cache, key_of(m, 5, view))) << m << " " << view;
  EXPECT_EQ(cache.stats().entries, 57u);
  EXPECT_EQ(cache.forget(sample(5)).entries, 0u);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(Forget, ManySamplesGoInSmallCommits) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  fill(cache, 1, 300, 10);
  std::vector<SampleDigest> samples;
  for (std::uint32_t i = 0; i < 200; ++i) samples.push_back(sample(i));
  EXPECT_EQ(cache.forget(samples).entries, 200u);
  EXPECT_EQ(cache.stats().entries, 100u);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(Forget, ErasesThePagesInTheFile) {
  const TempFolder folder;
  std::vector<float> secret(kValueElements);
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = 0.1234567F + static_cast<float>(i);
  FeatureCache cache(folder.cache());
  fill(cache, 1, 30, kValueElements);
  cache.put(key_of(1, 1000), secret);
  cache.flush();
  const auto head = std::span<const float>(secret).first(8);
  const auto tail = std::span<const float>(secret).last(8);
  ASSERT_FALSE(places(folder.data(), head).empty());
  ASSERT_FALSE(places(folder.data(), tail).empty());
  cache.forget(sample(1000));
  EXPECT_TRUE(places(folder.data(), head).empty());
  EXPECT_TRUE(places(folder.data(), tail).empty());
  EXPECT_EQ(get(cache, key_of(1, 3), kValueElements), features(3, kValueElements));
  EXPECT_TRUE(cache.verify().ok());
}

// Small values share pages with others, and so do the keys of all.
TEST(Forget, LeavesNoByteOfDigestOrMapInPagesThatLiveOn) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  constexpr std::size_t kSmall = 24;
  fill(cache, 1, 400, kSmall);
  fill(cache, 2, 60, kValueElements);
  const std::vector<SampleDigest> forgotten = {sample(7), sample(8), sample(39)};
  std::vector<float> map(kSmall);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = 0.1234567F + static_cast<float>(i);
  cache.put(key_of(1, 7), map);
  cache.flush();
  const auto holds = [&](std::span<const std::uint8_t> bytes) {
    const auto file = file_bytes(folder.data());
    return std::search(file.begin(), file.end(), bytes.begin(), bytes.end(), [](char a, auto b) {
             return static_cast<std::uint8_t>(a) == b;
           }) != file.end();
  };
  for (const SampleDigest& digest : forgotten) ASSERT_TRUE(holds(digest.bytes));
  ASSERT_FALSE(places(folder.data(), map).empty());
  cache.forget(forgotten);
  for (const SampleDigest& digest : forgotten) EXPECT_FALSE(holds(digest.bytes));
  EXPECT_TRUE(places(folder.data(), std::span(map).first(6)).empty());
  for (const std::uint32_t i : {0U, 6U, 9U, 38U, 40U, 399U})
    EXPECT_EQ(get(cache, key_of(1, i), kSmall), features(i, kSmall)) << i;
  EXPECT_TRUE(has(cache, key_of(2, 38)));
  EXPECT_TRUE(cache.verify().ok());
  cache.put(key_of(1, 7), features(7, kSmall));  // the file still takes what comes
  cache.flush();
  EXPECT_EQ(get(cache, key_of(1, 7), kSmall), features(7, kSmall));
  EXPECT_TRUE(cache.verify().ok());
}

// Whether LMDB keeps one value, or a part of one, in the page: it may take memory for it that held
// another page.
bool is_of_a_value(const std::string& page) {
  constexpr std::size_t kFlagsAt = 10;
  constexpr char kOverflow = 0x04;
  return page.at(kFlagsAt) == kOverflow;
}

TEST(Forget, LeavesNoByteBehindValuesThatHaveAPageOfTheirOwn) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  constexpr std::size_t kMostOfAPage = 520;  // elements
  constexpr std::uint32_t kSamples =
      800;  // half of them make a list of free pages that has a page, too
  fill(cache, 1, kSamples, kMostOfAPage);
  std::vector<SampleDigest> forgotten;
  for (std::uint32_t i = 0; i < kSamples; i += 2) forgotten.push_back(sample(i));
  cache.forget(forgotten);
  const auto bytes = file_bytes(folder.data());
  const std::string file(bytes.begin(), bytes.end());
  constexpr std::size_t kPage = 4096;
  for (std::size_t at = 0; at + kPage <= file.size(); at += kPage) {
    const std::string page = file.substr(at, kPage);
    if (!is_of_a_value(page)) continue;
    for (const SampleDigest& digest : forgotten)
      ASSERT_EQ(page.find(std::string(digest.bytes.begin(), digest.bytes.end())), std::string::npos)
          << at / kPage;
  }
  EXPECT_EQ(get(cache, key_of(1, 7), kMostOfAPage), features(7, kMostOfAPage));
  EXPECT_EQ(cache.stats().entries, kSamples / 2);
  EXPECT_TRUE(cache.verify().ok());
}

// What waits in a worker's batch when the daemon forgets the sample.
TEST(Forget, WinsAgainstABatchThatWaitsInAnotherProcess) {
  const TempFolder folder;
  int to_child[2], to_parent[2];
  ASSERT_EQ(::pipe(to_child), 0);
  ASSERT_EQ(::pipe(to_parent), 0);
  const auto known = folder.path() / "known";  // what a label store would say
  std::ofstream(known) << "x";
  const pid_t worker = spawn([&] {
    Options options;
    options.may_store = [&](const SampleDigest& digest) {
      return digest != sample(5) || std::filesystem::exists(known);
    };
    FeatureCache cache(folder.cache(), options);
    for (std::uint32_t i = 0; i < 10; ++i) cache.put(key_of(1, i), features(i, kValueElements));
    char byte = 0;
    if (::write(to_parent[1], &byte, 1) != 1 || ::read(to_child[0], &byte, 1) != 1) ::_exit(2);
    cache.flush();
  });
  char byte = 0;
  ASSERT_EQ(::read(to_parent[0], &byte, 1), 1);
  {
    std::filesystem::remove(known);
    FeatureCache cache(folder.cache());
    cache.forget(sample(5));
  }
  ASSERT_EQ(::write(to_child[1], &byte, 1), 1);
  EXPECT_EQ(wait_for(worker), 0);
  FeatureCache cache(folder.cache());
  EXPECT_FALSE(has(cache, key_of(1, 5)));
  EXPECT_EQ(cache.stats().entries, 9u);
}

}  // namespace
}  // namespace moil::cache
