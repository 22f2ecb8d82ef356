#include "featurecache/slack.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace moil::cache {
namespace {

// How LMDB 0.9 begins a page (MDB_page in mdb.c). Offsets are from the page's beginning; between
// `lower` and `upper` nothing is stored.
struct PageHeader {
  struct Unused {
    std::uint16_t lower, upper;
  };
  std::uint64_t number;
  std::uint16_t padding;
  std::uint16_t flags;
  union {
    Unused unused;
    std::uint32_t overflow_pages;  // of a value with pages of its own, this one included
  };
};
static_assert(sizeof(PageHeader) == 16);

constexpr std::uint16_t kBranch = 0x01, kLeaf = 0x02, kOverflow = 0x04;

bool is_tree_page(const PageHeader& header, std::uint64_t number, std::uint64_t page_bytes) {
  return header.number == number && (header.flags == kBranch || header.flags == kLeaf) &&
         header.unused.lower >= sizeof(PageHeader) && header.unused.lower <= header.unused.upper &&
         header.unused.upper <= page_bytes;
}

[[noreturn]] void fail() {
  throw system_error("cannot erase what the feature cache forgot", errno);
}

void write_zeros(int fd, std::uint64_t from, std::size_t bytes) {
  const std::vector<std::uint8_t> zeros(bytes);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n =
        ::pwrite(fd, zeros.data() + done, bytes - done, static_cast<off_t>(from + done));
    if (n < 0 && errno != EINTR) fail();
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
}

// False past the end of the file.
bool read_header(int fd, std::uint64_t at, PageHeader& header) {
  ssize_t n = 0;
  do {
    n = ::pread(fd, &header, sizeof header, static_cast<off_t>(at));
  } while (n < 0 && errno == EINTR);
  if (n < 0) fail();
  return n == static_cast<ssize_t>(sizeof header);
}

// Behind a value that has one page of its own: LMDB may take memory for it that held another page.
// It clears the last of several pages itself.
void erase_behind(const Environment& env, const MDB_val& value) {
  const std::uint64_t page_bytes = env.page_bytes();
  const auto* begin = static_cast<const std::uint8_t*>(value.mv_data);
  const bool has_page =
      reinterpret_cast<std::uintptr_t>(begin) % page_bytes == sizeof(PageHeader) &&
      sizeof(PageHeader) + value.mv_size < page_bytes;
  if (!has_page) return;
  env.touched();
  PageHeader header{};
  std::memcpy(&header, begin - sizeof header, sizeof header);
  const std::uint64_t used = sizeof header + value.mv_size;
  const auto* end = begin - sizeof header + page_bytes;
  if (header.flags != kOverflow ||
      std::all_of(begin + value.mv_size, end, [](auto b) { return b == 0; }))
    return;
  write_zeros(env.data_fd(), header.number * page_bytes + used, page_bytes - used);
}

void erase_behind_values(Environment& env, const Tables& tables) {
  constexpr MDB_dbi kFreePages = 0, kNames = 1;
  const ReadTransaction txn(env);
  for (const MDB_dbi table : {kFreePages, kNames, tables.meta, tables.models, tables.entries}) {
    const Cursor cursor(env, txn.get(), table);
    MDB_val key{}, value{};
    int rc = 0;
    while ((rc = ::mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT)) == 0)
      erase_behind(env, value);
    if (rc != MDB_NOTFOUND) env.check(rc, "erase");
  }
}

void erase_within_tree(const Environment& env) {
  MDB_envinfo info{};
  env.check(::mdb_env_info(env.get(), &info), "erase");
  PageHeader header{};
  for (std::uint64_t page = kMetaPages; page <= info.me_last_pgno;) {
    const std::uint64_t at = page * env.page_bytes();
    if (!read_header(env.data_fd(), at, header)) return;
    const bool value = header.number == page && header.flags == kOverflow;
    if (is_tree_page(header, page, env.page_bytes()))
      write_zeros(env.data_fd(), at + header.unused.lower,
                  header.unused.upper - header.unused.lower);
    page += value && header.overflow_pages > 0 ? header.overflow_pages : 1;
  }
}

}  // namespace

void erase_slack(Environment& env, const Tables& tables) {
  erase_within_tree(env);
  erase_behind_values(env, tables);
}

}  // namespace moil::cache
