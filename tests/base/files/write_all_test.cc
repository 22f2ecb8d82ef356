#include "base/files/write_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/files/unique_fd.h"

namespace moil {
namespace {

// A pipe takes less at once than this.
TEST(WriteAll, GoesOnUntilEverythingIsWritten) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const std::string text(1 << 20, 'x');
  std::string read;
  std::thread reader([&] {
    char some[4096];
    for (ssize_t n; (n = ::read(from.get(), some, sizeof some)) > 0;)
      read.append(some, static_cast<std::size_t>(n));
  });
  EXPECT_TRUE(write_all(to.get(), text));
  to.reset();
  reader.join();
  EXPECT_EQ(read, text);
}

TEST(WriteAll, SaysWhereNoMoreIsTaken) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "there is no /dev/full here";
  EXPECT_FALSE(write_all(full.get(), std::string_view("text")));
  EXPECT_EQ(errno, ENOSPC);
}

TEST(WriteAll, WritesNothingOfNothing) { EXPECT_TRUE(write_all(-1, std::string_view())); }

}  // namespace
}  // namespace moil
