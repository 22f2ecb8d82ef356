// What open() refuses, and how clearly.
#include <lmdb.h>
#include <unistd.h>

#include <cstring>

#include "featurecache/tables.h"
#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

// Changes the version record as another program would have written it.
void rewrite_version(const std::filesystem::path& folder, std::size_t offset, std::uint32_t value) {
  Environment env(folder, 1 << 20, false);
  const Tables tables = open_tables(env, 0);
  env.write([&](MDB_txn* txn) {
    char name[] = "format";
    MDB_val key{sizeof name - 1, name};
    MDB_val record{};
    env.check(::mdb_get(txn, tables.meta, &key, &record), "test");
    std::vector<char> bytes(static_cast<char*>(record.mv_data),
                            static_cast<char*>(record.mv_data) + record.mv_size);
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    record.mv_data = bytes.data();
    env.check(::mdb_put(txn, tables.meta, &key, &record, 0), "test");
  });
}

TEST(Open, RefusesANewerFormat) {
  const TempFolder folder;
  { FeatureCache cache(folder.cache()); }
  rewrite_version(folder.cache(), 8, kFormatVersion + 1);
  EXPECT_ERROR(FeatureCache(folder.cache()), ErrorCode::kFailedPrecondition, "format version 2");
  EXPECT_ERROR(FeatureCache(folder.cache(), {.read_only = true}), ErrorCode::kFailedPrecondition,
               "format version 2");
}

TEST(Open, RefusesAnotherByteOrderAndAForeignRecord) {
  const TempFolder folder;
  { FeatureCache cache(folder.cache()); }
  rewrite_version(folder.cache(), 12, 0x04030201);
  EXPECT_ERROR(FeatureCache(folder.cache()), ErrorCode::kFailedPrecondition, "byte order");
  const TempFolder other;
  { FeatureCache cache(other.cache()); }
  rewrite_version(other.cache(), 0, 0);
  EXPECT_ERROR(FeatureCache(other.cache()), ErrorCode::kBadData, "bad version record");
}

TEST(Open, RefusesAnLmdbFileOfSomethingElse) {
  const TempFolder folder;
  {
    Environment env((std::filesystem::create_directory(folder.cache()), folder.cache()), 1 << 20,
                    false);
    env.write([&](MDB_txn* txn) {
      MDB_dbi table = 0;
      env.check(::mdb_dbi_open(txn, "addresses", MDB_CREATE, &table), "test");
    });
  }
  EXPECT_ERROR(FeatureCache(folder.cache()), ErrorCode::kBadData, "not a feature cache");
}

TEST(Open, RefusesAFileThatIsNotLmdb) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.cache());
  std::ofstream(folder.data()) << std::string(100000, 'x');
  EXPECT_ERROR(FeatureCache(folder.cache()), ErrorCode::kBadData, "delete the folder");
}

TEST(Open, RefusesASecondHandleInOneProcess) {
  const TempFolder folder;
  const FeatureCache cache(folder.cache());
  EXPECT_ERROR(FeatureCache(folder.path() / "." / "features"), ErrorCode::kFailedPrecondition,
               "already open");
}

TEST(Open, ReadOnlyNeedsACacheThatIsThere) {
  const TempFolder folder;
  EXPECT_ERROR(FeatureCache(folder.cache(), {.read_only = true}), ErrorCode::kNotFound, "features");
  EXPECT_FALSE(std::filesystem::exists(folder.cache()));
}

TEST(Open, AFileInPlaceOfTheFolder) {
  const TempFolder folder;
  std::ofstream(folder.cache()) << "x";
  EXPECT_ERROR(FeatureCache(folder.cache()), ErrorCode::kBadData, "it is not a folder");
}

TEST(Open, AFolderThatIsNotWritable) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.cache());
  ::chmod(folder.cache().c_str(), 0555);
  ::chmod(folder.path().c_str(), 0755);
  if (::geteuid() != 0) GTEST_SKIP() << "an owner may change the mode back, and does: needs root";
  ASSERT_EQ(::seteuid(65534), 0);
  const auto inside = caught([&] { FeatureCache cache(folder.cache()); });
  const auto beside = caught([&] { FeatureCache cache(folder.path() / "new"); });
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(inside.thrown);
  EXPECT_EQ(inside.code, ErrorCode::kIo);
  EXPECT_NE(inside.text.find("Permission denied"), std::string::npos) << inside.text;
  EXPECT_TRUE(beside.thrown);
  EXPECT_NE(beside.text.find("cannot create"), std::string::npos) << beside.text;
}

// Cut at every 4 KiB: an error or missing entries, never a crash and never a wrong value.
TEST(Open, ATruncatedDataFileIsNeverServedFrom) {
  const TempFolder folder;
  {
    FeatureCache cache(folder.cache());
    fill(cache, 1, 12, 1500);
  }
  const auto whole = std::filesystem::file_size(folder.data());
  const auto copy = folder.path() / "whole";
  std::filesystem::copy_file(folder.data(), copy);
  for (std::uintmax_t size = 4096; size < whole; size += 4096) {
    std::filesystem::copy_file(copy, folder.data(),
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder.data(), size);
    try {
      FeatureCache cache(folder.cache());
      for (std::uint32_t i = 0; i < 12; ++i) {
        if (has(cache, key_of(1, i))) {
          ASSERT_EQ(get(cache, key_of(1, i), 1500), features(i, 1500)) << size;
        }
      }
    } catch (const Error& error) {
      EXPECT_EQ(to_string(error.code()), to_string(ErrorCode::kBadData)) << error.what();
    }
  }
}

}  // namespace
}  // namespace moil::cache
