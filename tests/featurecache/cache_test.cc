#include "featurecache/cache.h"

#include <sys/stat.h>

#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

mode_t mode_of(const std::filesystem::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(FeatureCache, RoundTripOfBothTypesAndAllSizes) {
  for (const StoredType type : {StoredType::kFp32, StoredType::kBf16}) {
    const TempFolder folder;
    FeatureCache cache(folder.cache(), {.stored_as = type});
    const std::size_t sizes[] = {1, 7, 480, 505, 1020, 1280, 62720};
    for (std::uint32_t i = 0; i < std::size(sizes); ++i) {
      cache.put(key_of(1, i), features(i, sizes[i]));
    }
    cache.flush();
    for (std::uint32_t i = 0; i < std::size(sizes); ++i) {
      EXPECT_EQ(get(cache, key_of(1, i), sizes[i]), features(i, sizes[i])) << sizes[i];
    }
    EXPECT_TRUE(cache.verify().ok());
  }
}

TEST(FeatureCache, GatherKeepsTheKeysOrderAndRepeats) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  fill(cache, 1, 20, 100);
  const std::vector<FeatureKey> keys = {key_of(1, 7), key_of(1, 3), key_of(1, 7), key_of(1, 0)};
  std::vector<float> out(4 * 100);
  cache.gather(keys, out.data(), 100);
  const std::uint32_t order[] = {7, 3, 7, 0};
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_TRUE(std::equal(out.begin() + static_cast<std::ptrdiff_t>(row * 100),
                           out.begin() + static_cast<std::ptrdiff_t>(row * 100 + 100),
                           features(order[row], 100).begin()));
  }
}

TEST(FeatureCache, MissingAndMisfittingEntries) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  cache.put(key_of(1, 1), features(1, 10));
  cache.flush();
  std::vector<float> out(30, -5.0F);
  const std::vector<FeatureKey> keys = {key_of(1, 0), key_of(1, 1), key_of(2, 1)};
  EXPECT_ERROR(cache.gather(keys, out.data(), 10), ErrorCode::kNotFound, "row 0 of 3");
  EXPECT_ERROR(get(cache, keys[1], 11), ErrorCode::kInvalidArgument, "has 10 elements, not 11");
  std::vector<std::uint8_t> found(3);
  EXPECT_EQ(cache.find(keys, out.data(), 10, found), 1u);
  EXPECT_EQ(found, (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(out[0], -5.0F);
  EXPECT_EQ(out[10], features(1, 10)[0]);
  EXPECT_ERROR(cache.find(keys, out.data(), 11, found), ErrorCode::kInvalidArgument,
               "has 10 elements, not 11");
  EXPECT_EQ(cache.contains(keys, found), 1u);
  EXPECT_ERROR(cache.contains(keys, std::span(found).first(2)), ErrorCode::kInvalidArgument,
               "2 flags for 3 keys");
  EXPECT_ERROR(cache.put(key_of(1, 1), {}), ErrorCode::kInvalidArgument, "0 elements");
}

TEST(FeatureCache, ViewsAreSeparate) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  for (std::uint16_t view = 0; view < 3; ++view) {
    cache.put(key_of(1, 1, view), features(view, 10));
  }
  cache.flush();
  EXPECT_EQ(get(cache, key_of(1, 1, 2), 10), features(2, 10));
  EXPECT_EQ(cache.stats().entries, 3u);
}

TEST(FeatureCache, ReplacingCountsOnce) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  cache.put(key_of(1, 1), features(1, 5000));
  cache.put(key_of(1, 1), features(2, 10));
  cache.flush();
  cache.put(key_of(1, 1), features(3, 100));
  cache.flush();
  EXPECT_EQ(get(cache, key_of(1, 1), 100), features(3, 100));
  EXPECT_EQ(cache.stats().models.at(0).entries, 1u);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(FeatureCache, PersistsAcrossReopenWithItsRecords) {
  const TempFolder folder;
  {
    FeatureCache cache(folder.cache(), {.clock = [] { return 1000; }});
    cache.use_model(model(1), "mobilenet, split 16");
    for (std::uint32_t i = 0; i < 50; ++i) cache.put(key_of(1, i), features(i, 1280));
  }  // the destructor flushes
  FeatureCache cache(folder.cache(), {.read_only = true});
  for (std::uint32_t i = 0; i < 50; ++i) {
    ASSERT_EQ(get(cache, key_of(1, i), 1280), features(i, 1280));
  }
  const CacheStats stats = cache.stats();
  EXPECT_EQ(stats.entries, 50u);
  ASSERT_EQ(stats.models.size(), 1u);
  EXPECT_EQ(stats.models[0].description, "mobilenet, split 16");
  EXPECT_EQ(stats.models[0].created, 1000);
  EXPECT_EQ(stats.models[0].entries, 50u);
  EXPECT_EQ(stats.bytes, stats.models[0].bytes);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(FeatureCache, GrowsPastItsFirstMap) {
  const TempFolder folder;
  FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20});
  fill(cache, 1, 400, 10000);  // 16 MB
  EXPECT_GE(cache.stats().map_bytes, 16u << 20);
  for (std::uint32_t i = 0; i < 400; i += 37) {
    ASSERT_EQ(get(cache, key_of(1, i), 10000), features(i, 10000));
  }
  EXPECT_TRUE(cache.verify().ok());
}

// The charge of an entry is LMDB's own page arithmetic: it must match what the file really uses.
TEST(FeatureCache, BytesAreWhatTheFileHolds) {
  for (const std::size_t elements : {1280, 62720}) {
    const TempFolder folder;
    FeatureCache cache(folder.cache());
    fill(cache, 1, 200, elements);
    const CacheStats stats = cache.stats();
    const auto live = static_cast<double>(stats.file_bytes - stats.free_bytes);
    EXPECT_NEAR(static_cast<double>(stats.bytes) / live, 1.0, 0.02);
    EXPECT_EQ(cache.verify().leaked_pages, 0u);
  }
}

TEST(FeatureCache, FilesArePrivateEvenWhereTheyWereNot) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.cache());
  ::chmod(folder.cache().c_str(), 0755);
  { FeatureCache cache(folder.cache()); }
  ::chmod(folder.data().c_str(), 0644);
  const FeatureCache cache(folder.cache());
  EXPECT_EQ(mode_of(folder.cache()), 0700u);
  EXPECT_EQ(mode_of(folder.data()), 0600u);
  EXPECT_EQ(mode_of(folder.cache() / "lock.mdb"), 0600u);
}

TEST(FeatureCache, ReadOnlyRefusesEveryChange) {
  const TempFolder folder;
  { FeatureCache cache(folder.cache()); }
  FeatureCache cache(folder.cache(), {.read_only = true});
  const auto refuses = [](const std::function<void()>& work) {
    EXPECT_ERROR(work(), ErrorCode::kFailedPrecondition, "read-only");
  };
  refuses([&] { cache.put(key_of(1, 1), features(1, 3)); });
  refuses([&] { cache.flush(); });
  refuses([&] { cache.gc({}); });
  refuses([&] { cache.forget(sample(1)); });
  refuses([&] { cache.reclaim(); });
  refuses([&] { cache.verify(true); });
}

TEST(FeatureCache, ADescriptionBelongsToOneModel) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  cache.use_model(model(1), "one");
  cache.use_model(model(1), "one");
  EXPECT_ERROR(cache.use_model(model(1), "two"), ErrorCode::kFailedPrecondition, "\"one\"");
}

}  // namespace
}  // namespace moil::cache
