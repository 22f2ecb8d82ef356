// What reading makes resident stays bounded, whatever was written beside it.
#include "featurecache/resident_pages.h"

#include <fstream>
#include <sstream>

#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

constexpr std::size_t kMost = 2 * kMostResidentBytes;  // as it counts only now and then

// What this process's memory holds of the cache's file, as the kernel counts it.
std::size_t resident_bytes(const std::string& file) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  std::size_t kib = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first.find('-') != std::string::npos) inside = line.ends_with(file);
    std::size_t value = 0;
    if (inside && first == "Rss:" && words >> value) kib += value;
  }
  return kib << 10;
}

// Reads every `step`th sample of a model; returns the most that was resident meanwhile.
std::size_t most_resident(FeatureCache& cache, std::uint64_t model, std::uint32_t samples,
                          std::uint32_t step, std::size_t elements) {
  std::vector<float> row(elements);
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < samples; i += step) {
    const FeatureKey key = key_of(model, i);
    cache.gather(std::span(&key, 1), row.data(), elements);
    EXPECT_EQ(row, features(i, elements));
    most = std::max(most, resident_bytes("data.mdb"));
  }
  return most;
}

TEST(ResidentPages, ReadingKeepsABoundedPartOfTheMap) {
  constexpr std::uint32_t kSamples = 8'000;
  constexpr std::size_t kElements = 400;  // two on a page: 16 MiB in all
  const TempFolder folder;
  {
    FeatureCache cache(folder.cache());
    fill(cache, 1, kSamples, kElements);
  }
  FeatureCache cache(folder.cache());
  std::vector<FeatureKey> keys;
  for (std::uint32_t i = 0; i < kSamples; ++i) keys.push_back(key_of(1, i));
  std::vector<std::uint8_t> present(kSamples);
  EXPECT_EQ(cache.contains(keys, present, Depth::kChecksum), kSamples);
  EXPECT_LE(resident_bytes("data.mdb"), kMost);

  const std::size_t most = most_resident(cache, 1, kSamples, 10, kElements);
  EXPECT_LE(most, kMost);
  EXPECT_GT(most, 1U << 20);  // the measure sees the map

  EXPECT_TRUE(cache.verify().ok());
  EXPECT_LE(resident_bytes("data.mdb"), kMost);
}

// They are read from the file: what is resident are the pages of the tree.
TEST(ResidentPages, ValuesWithPagesOfTheirOwnAreNotMapped) {
  constexpr std::uint32_t kSamples = 600;
  constexpr std::size_t kElements = 16'000;  // 64 KB: 37 MiB in all
  const TempFolder folder;
  {
    FeatureCache cache(folder.cache());
    fill(cache, 1, kSamples, kElements);
  }
  FeatureCache cache(folder.cache());
  EXPECT_LE(most_resident(cache, 1, kSamples, 1, kElements), kMost);
}

// The neighbours of what is read are mapped with it, and here they are another model's.
TEST(ResidentPages, SmallValuesScatteredAmongOthers) {
  constexpr std::uint32_t kSamples = 8'000;
  const TempFolder folder;
  {
    FeatureCache cache(folder.cache());
    for (std::uint32_t i = 0; i < kSamples; ++i) {
      cache.put(key_of(1, i), features(i, 400));
      if (i % 10 == 0) cache.put(key_of(2, i), features(i, 400));
    }
    cache.flush();
  }
  FeatureCache cache(folder.cache());
  EXPECT_LE(most_resident(cache, 2, kSamples, 10, 400), kMost);
}

// Growth moves the map: what was noted of the old one is void.
TEST(ResidentPages, TheMapMayMove) {
  const TempFolder folder;
  FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20});
  for (std::uint32_t round = 0; round < 6; ++round) {
    for (std::uint32_t i = 0; i < 200; ++i)
      cache.put(key_of(1, round * 200 + i), features(i, 4000));
    cache.flush();
    for (std::uint32_t i = 0; i < 200; ++i)
      ASSERT_EQ(get(cache, key_of(1, round * 200 + i), 4000), features(i, 4000));
  }
}

}  // namespace
}  // namespace moil::cache
