#include "engine/elastic/cached_maps.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engine/train/plain_batch.h"

namespace moil {
namespace {

constexpr std::int64_t kSamples = 11;

CachedMaps some_maps(std::size_t elements = 2) {
  return {std::filesystem::temp_directory_path(), "relu0", {kSamples, elements, 3}};
}

TEST(CachedMaps, GiveWhatWasAddedInAnyOrder) {
  CachedMaps maps = some_maps();
  const std::vector<float> one = {1, 2}, two = {3, 4}, first = {1, 0, 0}, second = {0, 1, 0};
  maps.add(7, one, first);
  maps.add(2, two, second);
  EXPECT_TRUE(maps.has(7));
  EXPECT_FALSE(maps.has(3));
  const std::vector<std::int64_t> wanted = {2, 7, 2}, asked = {7, 4, 2, 0, 4};
  std::vector<float> map(6), target(9);
  test::read_plain(maps, wanted, map, target);
  EXPECT_EQ(map, (std::vector<float>{3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(target, (std::vector<float>{0, 1, 0, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(maps.missing(asked), (std::vector<std::int64_t>{0, 4}));
}

TEST(CachedMaps, RefuseWhatTheyDoNotHave) {
  CachedMaps maps = some_maps();
  const std::vector<std::int64_t> wanted = {1};
  std::vector<float> map(2), target(3);
  EXPECT_THROW(test::read_plain(maps, wanted, map, target), Error);
  EXPECT_THROW(maps.add(1, target, target), Error);
  EXPECT_EQ(maps.size(), kSamples);
}

TEST(CachedMaps, NoRoomIsAnErrorBeforeTheFirstMap) {
  CachedMaps maps = some_maps(1 << 20);
  try {
    maps.reserve(std::size_t{1} << 40);  // 4 EiB
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("feature maps"), std::string::npos) << e.what();
  }
  EXPECT_THROW(CachedMaps("/no/such/folder", "relu0", {1, 1, 1}), Error);
}

}  // namespace
}  // namespace moil
