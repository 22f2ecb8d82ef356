// Flipped bytes, wrong counts and full disks.
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <memory>

#include "featurecache/discard.h"
#include "featurecache/ledger.h"
#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

constexpr std::size_t kMapElements = 1500;

// A cache of ten entries, one byte of entry 4 flipped in the file.
void make_damaged(const TempFolder& folder) {
  {
    FeatureCache cache(folder.cache());
    fill(cache, 1, 10, kMapElements);
  }
  const auto at = places(folder.data(), features(4, kMapElements));
  ASSERT_EQ(at.size(), 1u);
  flip_byte(folder.data(), at[0] + 3000);
}

TEST(Damage, AFlippedByteIsNotServedAndIsReplaced) {
  const TempFolder folder;
  make_damaged(folder);
  FeatureCache cache(folder.cache());
  EXPECT_TRUE(has(cache, key_of(1, 4), Depth::kPresence));
  EXPECT_FALSE(has(cache, key_of(1, 4), Depth::kChecksum));
  EXPECT_ERROR(get(cache, key_of(1, 4), kMapElements), ErrorCode::kNotFound, "no feature map");
  EXPECT_EQ(get(cache, key_of(1, 5), kMapElements), features(5, kMapElements));
  EXPECT_EQ(cache.stats().damaged_seen, 2u);
  cache.flush();  // removes it
  EXPECT_EQ(cache.stats().entries, 9u);
  cache.put(key_of(1, 4), features(4, kMapElements));
  cache.flush();
  EXPECT_EQ(get(cache, key_of(1, 4), kMapElements), features(4, kMapElements));
  EXPECT_TRUE(cache.verify().ok());
}

// Whatever lies where the cache should be: opening says that it cannot be used, and what is
// discarded makes room for a cache that can.
void expect_discarded(const std::filesystem::path& cache, const std::string& what) {
  SCOPED_TRACE(what);
  EXPECT_THROW(
      {
        FeatureCache damaged(cache);
        fill(damaged, 1, 10, kMapElements);
        (void)damaged.stats();
        const VerifyReport report = damaged.verify();
        if (!report.ok()) throw Unusable(ErrorCode::kBadData, "told");
      },
      Unusable);
  discard(cache);
  EXPECT_FALSE(std::filesystem::exists(cache));
  EXPECT_FALSE(std::filesystem::exists(cache.string() + ".discarded"));
  FeatureCache fresh(cache);
  fill(fresh, 1, 10, kMapElements);
  EXPECT_EQ(fresh.stats().entries, 10U);
  EXPECT_TRUE(fresh.verify().ok());
}

TEST(Damage, WhatCannotBeUsedIsToldAndCanBeDiscarded) {
  const TempFolder folder;
  const auto cache = folder.cache(), data = folder.data();
  { fill(*std::make_unique<FeatureCache>(cache), 1, 10, kMapElements); }
  const auto write = [&](const std::string& bytes) { std::ofstream(data) << bytes; };
  write(std::string(100'000, '\x5a'));
  expect_discarded(cache, "garbage");
  std::filesystem::resize_file(data, 5000);
  expect_discarded(cache, "cut within the first pages");
  std::filesystem::remove(data);
  std::filesystem::create_directory(data);
  expect_discarded(cache, "a folder in the place of the file");
  std::filesystem::remove_all(cache);
  std::ofstream(cache) << "a file";
  expect_discarded(cache, "a file in the place of the folder");
}

TEST(Damage, ContentIsDiscardedWithinTheFolder) {
  const TempFolder folder;
  const auto cache = folder.cache();
  { fill(*std::make_unique<FeatureCache>(cache), 1, 10, kMapElements); }
  std::ofstream(cache / "old.discarded") << "left";
  std::filesystem::remove(folder.data());
  std::filesystem::create_directory(folder.data());
  discard_content(cache);
  EXPECT_TRUE(std::filesystem::is_empty(cache));
  FeatureCache fresh(cache);
  EXPECT_EQ(fresh.stats().entries, 0U);
}

TEST(Damage, WhatWasLeftOfADiscardedCacheGoesWhenTheNextIsOpened) {
  const TempFolder folder;
  const auto left = folder.cache().string() + ".discarded";
  std::filesystem::create_directories(left);
  std::ofstream(left + "/data.mdb") << "feature maps of a photo";
  const FeatureCache cache(folder.cache());
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST(Damage, VerifyFindsAndRepairs) {
  const TempFolder folder;
  make_damaged(folder);
  FeatureCache cache(folder.cache());
  const VerifyReport found = cache.verify();
  EXPECT_FALSE(found.ok());
  EXPECT_EQ(found.entries, 10u);
  ASSERT_EQ(found.bad.size(), 1u);
  EXPECT_EQ(found.bad[0].key, key_of(1, 4));
  EXPECT_EQ(cache.stats().entries, 10u) << "without repair nothing changes";
  EXPECT_EQ(cache.verify(true).repaired, 1u);
  const VerifyReport after = cache.verify();
  EXPECT_TRUE(after.ok());
  EXPECT_EQ(after.entries, 9u);
  EXPECT_EQ(cache.stats().models.at(0).entries, 9u);
}

TEST(Damage, VerifyPutsWrongCountsRight) {
  const TempFolder folder;
  {
    FeatureCache cache(folder.cache());
    cache.use_model(model(1), "kept");
    fill(cache, 1, 10, kMapElements);
    fill(cache, 2, 10, kMapElements);
  }
  {
    Environment env(folder.cache(), 1 << 20, false);
    const Tables tables = open_tables(env, 0);
    env.write([&](MDB_txn* txn) {
      Ledger ledger(env, txn, tables);
      ledger.add(model(1), 12345);
      ledger.erase(model(2));
      ledger.save();
    });
  }
  FeatureCache cache(folder.cache());
  EXPECT_EQ(cache.verify(true).structure.size(), 2u);
  EXPECT_TRUE(cache.verify().ok());
  EXPECT_EQ(cache.stats().models.size(), 2u);
  for (const ModelStats& stats : cache.stats().models) EXPECT_EQ(stats.entries, 10u);
}

TEST(Damage, ADamagedModelRecordIsReportedAndRebuilt) {
  const TempFolder folder;
  const std::string text = "a description to be found in the file";
  {
    FeatureCache cache(folder.cache());
    cache.use_model(model(1), text);
    fill(cache, 1, 10, kMapElements);
  }
  const auto bytes = file_bytes(folder.data());
  const std::string_view hay(bytes.data(), bytes.size());
  for (auto at = hay.find(text); at != hay.npos; at = hay.find(text, at + 1)) {
    flip_byte(folder.data(), at);
  }
  FeatureCache cache(folder.cache());
  EXPECT_FALSE(cache.verify(true).ok());
  EXPECT_TRUE(cache.verify().ok());
  ASSERT_EQ(cache.stats().models.size(), 1u);
  EXPECT_EQ(cache.stats().models[0].entries, 10u);
  EXPECT_EQ(get(cache, key_of(1, 3), kMapElements), features(3, kMapElements));
}

TEST(Damage, VerifyStopsWhenAsked) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  fill(cache, 1, 600, 10);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_ERROR(cache.verify(false, {.progress = {}, .stop = stop.get_token()}),
               ErrorCode::kCancelled, "stopped after 256");
}

// Fills until the disk says no, then checks that all that was acknowledged is there.
void expect_full_disk_is_survived(const std::filesystem::path& folder,
                                  const std::function<void()>& make_room) {
  std::uint32_t stored = 0;
  {
    FeatureCache cache(folder, {.batch_entries = 4});
    const auto error = caught([&] {
      for (std::uint32_t i = 0; i < 4000; i += 4) {
        for (std::uint32_t j = i; j < i + 4; ++j)
          cache.put(key_of(1, j), features(j, kMapElements));
        cache.flush();
        stored = i + 4;
      }
    });
    ASSERT_TRUE(error.thrown);
    EXPECT_EQ(to_string(error.code), "resource_exhausted") << error.text;
    EXPECT_NE(error.text.find("no space left"), std::string::npos) << error.text;
    ASSERT_GT(stored, 20u);
    for (std::uint32_t i = 0; i < stored; ++i) {
      ASSERT_EQ(get(cache, key_of(1, i), kMapElements), features(i, kMapElements)) << i;
    }
    EXPECT_TRUE(cache.verify().ok());
    make_room();
    cache.put(key_of(2, 0), features(0, kMapElements));
    cache.flush();
  }
  FeatureCache cache(folder);
  EXPECT_EQ(cache.stats().entries, stored + 1);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(FullDisk, AFileSizeLimitIsSurvived) {
  const TempFolder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = (1 << 20) + 1000;  // within a page: the last write is cut short
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_full_disk_is_survived(folder.cache(), [&] { ::setrlimit(RLIMIT_FSIZE, &before); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}

TEST(FullDisk, ATinyFileSystemIsSurvived) {
  const TempFolder folder;
  const auto disk = folder.path() / "disk";
  std::filesystem::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "may not mount a tmpfs here";
  }
  std::ofstream(disk / "ballast") << std::string(600000, 'x');
  expect_full_disk_is_survived(disk / "features",
                               [&] { std::filesystem::remove(disk / "ballast"); });
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

}  // namespace
}  // namespace moil::cache
