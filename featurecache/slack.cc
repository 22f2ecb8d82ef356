#include "featurecache/slack.h"

#include <unistd.h>

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

}  // namespace

void erase_slack(const Environment& env) {
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

}  // namespace moil::cache
