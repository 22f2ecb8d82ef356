/* A disk whose flushes take their time, as an SD card's do: MOIL_FLUSH_MS milliseconds each; 0: they take none, and
 * nothing is flushed. Left out: as the disk is. Into the file MOIL_FLUSH_LOG goes the path of each file that the first
 * thread of the process MOIL_FLUSH_OF (a program's name) flushes, a line each. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "next.h"

static long milliseconds = -1;
static int notes = -1;

__attribute__((constructor)) static void begin(void) {
  const char* given = getenv("MOIL_FLUSH_MS");
  const char* log = getenv("MOIL_FLUSH_LOG");
  const char* program = getenv("MOIL_FLUSH_OF");
  if (given != NULL) milliseconds = atol(given);
  if (program == NULL || strcmp(program, program_invocation_short_name) != 0) return;
  if (log != NULL) notes = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The file's path, without an end if it cannot be told. */
static ssize_t path_of(int fd, char* path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, size - 1);
  path[length < 0 ? 0 : length] = 0;
  return length < 0 ? 0 : length;
}

static void note(int fd) {
  if (notes < 0 || gettid() != getpid()) return;
  char line[4096];
  const ssize_t length = path_of(fd, line, sizeof line);
  line[length] = '\n';
  if (write(notes, line, (size_t)length + 1) < 0) return;
}

/* Whether the real one is to be called. */
static int flush(void) {
  if (milliseconds < 0) return 1;
  struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
  return 0;
}

static int flush_file(int fd) {
  note(fd);
  return flush();
}

int fsync(int fd) {
  NEXT(fsync);
  return flush_file(fd) ? next(fd) : 0;
}

int fdatasync(int fd) {
  NEXT(fdatasync);
  return flush_file(fd) ? next(fd) : 0;
}

int msync(void* at, size_t bytes, int flags) {
  NEXT(msync);
  return (flags & MS_SYNC) == 0 || flush() ? next(at, bytes, flags) : 0;
}
