#include "base/may_start_programs.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace moil {
namespace {

// Asked in a child, whose user may have no process more.
int answer_where_none_may_be_started() {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NPROC, &none) != 0 || ::setuid(65534) != 0) ::_exit(2);
    ::_exit(may_start_programs() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(MayStartPrograms, IsTried) {
  EXPECT_TRUE(may_start_programs());
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  EXPECT_EQ(answer_where_none_may_be_started(), 0);
}

}  // namespace
}  // namespace moil
