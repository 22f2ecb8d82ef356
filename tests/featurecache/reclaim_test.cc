// Free pages are given back when nobody can read them any more, and no commit earlier.
#include <cstring>

#include "featurecache/environment.h"
#include "featurecache/tables.h"
#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

constexpr std::size_t kElements = 1500;

// Where LMDB's two meta pages keep the number of their commit.
constexpr std::size_t kCommitNumber = 144;

std::uint64_t commit_of_meta(const std::vector<char>& file, std::size_t page) {
  std::uint64_t commit = 0;
  std::memcpy(&commit, file.data() + page * ::sysconf(_SC_PAGESIZE) + kCommitNumber, sizeof commit);
  return commit;
}

// As a power cut leaves the file: the last commit's meta page was not written.
void lose_last_commit(const std::filesystem::path& data) {
  const std::vector<char> file = file_bytes(data);
  const std::uint64_t first = commit_of_meta(file, 0), second = commit_of_meta(file, 1);
  ASSERT_EQ(std::max(first, second) - std::min(first, second), 1U) << "this is no meta page";
  std::fstream out(data, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp((first > second ? 0 : ::sysconf(_SC_PAGESIZE)) +
            static_cast<std::streamoff>(kCommitNumber));
  const std::uint64_t none = 0;
  out.write(reinterpret_cast<const char*>(&none), sizeof none);
  ASSERT_TRUE(out.good());
}

TEST(Reclaim, KeepsWhatTheCommitBeforeTheLastRefersTo) {
  const TempFolder folder;
  {
    FeatureCache cache(folder.cache());
    fill(cache, 1, 50, kElements);
    fill(cache, 2, 50, kElements);
    const ModelId kept = model(1);
    EXPECT_EQ(cache.gc(std::span(&kept, 1)).entries, 50U);
  }
  lose_last_commit(folder.data());
  FeatureCache cache(folder.cache());
  EXPECT_TRUE(cache.verify().ok());
  for (std::uint32_t i = 0; i < 50; ++i)
    ASSERT_EQ(get(cache, key_of(1, i), kElements), features(i, kElements));
}

// Reads all values in one snapshot, between two lines of a pipe.
int read_slowly(const std::filesystem::path& folder, int tell, int wait) {
  Environment env(folder, 1 << 26, /*read_only=*/true);
  const Tables tables = open_tables(env, 0);
  const ReadTransaction txn(env);
  char go = 0;
  if (::write(tell, &go, 1) != 1 || ::read(wait, &go, 1) != 1) return 2;
  const Cursor cursor(env, txn.get(), tables.entries);
  int whole = 0;
  MDB_val key{}, value{};
  while (::mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT) == 0) {
    FeatureKey decoded;
    if (!decode(to_span(key), decoded) || !check_value(encode(decoded), to_span(value))) return 3;
    ++whole;
  }
  return whole == 50 ? 0 : 4;
}

TEST(Reclaim, KeepsWhatAReaderInAnotherProcessSees) {
  const TempFolder folder;
  {
    FeatureCache cache(folder.cache());
    fill(cache, 1, 50, kElements);
  }
  int told[2], go[2];
  ASSERT_EQ(::pipe(told), 0);
  ASSERT_EQ(::pipe(go), 0);
  const pid_t reader = spawn([&] { ::_exit(read_slowly(folder.cache(), told[1], go[0])); });
  char byte = 0;
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  FeatureCache cache(folder.cache());
  EXPECT_EQ(cache.gc({}).entries, 50U);
  EXPECT_EQ(::write(go[1], &byte, 1), 1);
  EXPECT_EQ(wait_for(reader), 0) << "it read pages that had been erased";
  EXPECT_GT(cache.reclaim(), 50 * kElements * sizeof(float)) << "now nobody reads them";
  for (const int fd : {told[0], told[1], go[0], go[1]}) ::close(fd);
}

}  // namespace
}  // namespace moil::cache
