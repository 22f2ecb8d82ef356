/* A kernel without Landlock and without seccomp, as the worker asks for them (daemon/worker/landlock.cc, system_calls.cc):
 * it runs unconfined, and says so. PoCL compiles a kernel by starting a linker, which a confined worker may not. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "next.h"

static long refused(int error) {
  errno = error;
  return -1;
}

long syscall(long number, ...) {
  NEXT(syscall);
  long a[6];
  va_list more;
  va_start(more, number);
  for (int i = 0; i < 6; ++i) a[i] = va_arg(more, long);
  va_end(more);
  if (number == SYS_landlock_create_ruleset) return refused(ENOSYS);
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int prctl(int option, ...) {
  NEXT(prctl);
  unsigned long a[4];
  va_list more;
  va_start(more, option);
  for (int i = 0; i < 4; ++i) a[i] = va_arg(more, unsigned long);
  va_end(more);
  if (option == PR_GET_SECCOMP) return (int)refused(EINVAL);
  return next(option, a[0], a[1], a[2], a[3]);
}
