/* A disk whose flushes take their time, as an SD card's do: MOIL_FLUSH_MS milliseconds each; 0: they take none, and
 * nothing is flushed. Left out: as the disk is. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "next.h"

static long milliseconds = -1;

__attribute__((constructor)) static void begin(void) {
  const char* given = getenv("MOIL_FLUSH_MS");
  if (given != NULL) milliseconds = atol(given);
}

/* Whether the real one is to be called. */
static int flush(void) {
  if (milliseconds < 0) return 1;
  struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
  return 0;
}

int fsync(int fd) {
  NEXT(fsync);
  return flush() ? next(fd) : 0;
}

int fdatasync(int fd) {
  NEXT(fdatasync);
  return flush() ? next(fd) : 0;
}

int msync(void* at, size_t bytes, int flags) {
  NEXT(msync);
  return (flags & MS_SYNC) == 0 || flush() ? next(at, bytes, flags) : 0;
}
