/* A library to preload into moild and its workers: a clock that can be set, and a disk that fails.
 *
 * MOIL_PRELOAD names a file of `struct Wishes`, which the tests change while the programs run
 * (bench/lib/preload.py); MOIL_PRELOAD_BELOW is the folder whose files are struck. Everything else
 * behaves as ever: sockets, pipes, programs that were started without the file.
 *
 * What the C library does for itself (fwrite, fopen) and what the kernel does of its own accord
 * (pages of a map that are written back) goes by unseen. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "next.h"

enum Kind { kNone, kNoSpace, kIoError, kInterrupt, kShort };
enum Who { kDaemon = 1, kWorker = 2 };

struct Wishes {
  _Atomic int64_t clock_ahead; /* nanoseconds */
  _Atomic int64_t kind;        /* enum Kind */
  _Atomic int64_t one_in;      /* calls, at random */
  _Atomic int64_t who;         /* of enum Who, added up */
  _Atomic int64_t left;        /* faults that are still to come; below 0: no end */
  _Atomic int64_t struck;      /* calls so far: told, not asked */
  _Atomic int64_t seen;        /* calls that could have been */
};

static struct Wishes* wishes;
static const char* below;
static size_t below_length;
static int64_t self;

__attribute__((constructor)) static void begin(void) {
  const char* file = getenv("MOIL_PRELOAD");
  below = getenv("MOIL_PRELOAD_BELOW");
  below_length = below ? strlen(below) : 0;
  self = strstr(program_invocation_short_name, "worker") ? kWorker : kDaemon;
  if (file == NULL) return;
  const int fd = open(file, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void* map = mmap(NULL, sizeof(struct Wishes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map != MAP_FAILED) wishes = map;
}

/* ---- the clock ---- */

static int is_set(clockid_t clock) {
  return wishes != NULL && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_BOOTTIME);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  NEXT(clock_gettime);
  const int result = next(clock, now);
  if (result != 0 || !is_set(clock)) return result;
  const int64_t ahead = atomic_load(&wishes->clock_ahead);
  const int64_t nanoseconds = now->tv_nsec + ahead % 1000000000;
  now->tv_sec += ahead / 1000000000 + (nanoseconds >= 1000000000);
  now->tv_nsec = nanoseconds % 1000000000;
  return 0;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict out, void* restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

/* ---- the disk ---- */

static uint64_t chance(void) { /* xorshift, a stream a thread */
  static _Thread_local uint64_t state;
  if (state == 0) {
    struct timespec now;
    NEXT(clock_gettime);
    next(CLOCK_MONOTONIC, &now);
    state = (uint64_t)now.tv_nsec * 2654435761U + (uint64_t)getpid() + 1;
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static int is_below(const char* path) {
  return below_length > 0 && path != NULL && strncmp(path, below, below_length) == 0;
}

static int file_is_below(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path);
}

/* Whether this call is struck, one that could be. */
static int strikes(void) {
  atomic_fetch_add(&wishes->seen, 1);
  const int64_t one_in = atomic_load(&wishes->one_in);
  if (one_in <= 0 || chance() % (uint64_t)one_in != 0) return 0;
  int64_t left = atomic_load(&wishes->left);
  do {
    if (left == 0) return 0;
  } while (left > 0 && !atomic_compare_exchange_weak(&wishes->left, &left, left - 1));
  atomic_fetch_add(&wishes->struck, 1);
  return 1;
}

static enum Kind wish(void) {
  if (wishes == NULL || (atomic_load(&wishes->who) & self) == 0) return kNone;
  return (enum Kind)atomic_load(&wishes->kind);
}

/* The error of a call on a file, or 0: `kinds` are those that it may have, as bits. */
static int fault(unsigned kinds, int fd, const char* path) {
  const enum Kind kind = wish();
  if (kind == kNone || kind == kShort || (kinds >> kind & 1) == 0) return 0;
  const int before = errno;
  const int is_ours = path != NULL ? is_below(path) : file_is_below(fd);
  const int is_struck = is_ours && strikes();
  errno = before;
  if (!is_struck) return 0;
  return kind == kNoSpace ? ENOSPC : kind == kIoError ? EIO : EINTR;
}

#define SPACE (1U << kNoSpace)
#define IO (1U << kIoError)
#define INTERRUPT (1U << kInterrupt)
#define FAIL_IF(kinds, fd, path) \
  do { \
    const int error = fault(kinds, fd, path); \
    if (error != 0) { \
      errno = error; \
      return -1; \
    } \
  } while (0)

/* What of `bytes` a short call does. */
static size_t some_of(int fd, size_t bytes) {
  if (wish() != kShort || bytes < 2 || !file_is_below(fd) || !strikes()) return bytes;
  return 1 + chance() % (bytes - 1);
}

ssize_t write(int fd, const void* from, size_t bytes) {
  NEXT(write);
  FAIL_IF(SPACE | IO | INTERRUPT, fd, NULL);
  return next(fd, from, some_of(fd, bytes));
}

ssize_t pwrite64(int fd, const void* from, size_t bytes, off64_t at) {
  NEXT(pwrite64);
  FAIL_IF(SPACE | IO | INTERRUPT, fd, NULL);
  return next(fd, from, some_of(fd, bytes), at);
}
ssize_t pwrite(int fd, const void* from, size_t bytes, off_t at) { return pwrite64(fd, from, bytes, at); }

ssize_t writev(int fd, const struct iovec* from, int count) {
  NEXT(writev);
  FAIL_IF(SPACE | IO | INTERRUPT, fd, NULL);
  return next(fd, from, wish() == kShort && count > 1 && file_is_below(fd) && strikes() ? 1 : count);
}

ssize_t read(int fd, void* to, size_t bytes) {
  NEXT(read);
  FAIL_IF(INTERRUPT, fd, NULL);
  return next(fd, to, some_of(fd, bytes));
}

ssize_t pread64(int fd, void* to, size_t bytes, off64_t at) {
  NEXT(pread64);
  FAIL_IF(INTERRUPT, fd, NULL);
  return next(fd, to, some_of(fd, bytes), at);
}
ssize_t pread(int fd, void* to, size_t bytes, off_t at) { return pread64(fd, to, bytes, at); }

int fsync(int fd) {
  NEXT(fsync);
  FAIL_IF(SPACE | IO, fd, NULL);
  return next(fd);
}

int fdatasync(int fd) {
  NEXT(fdatasync);
  FAIL_IF(SPACE | IO, fd, NULL);
  return next(fd);
}

int msync(void* at, size_t bytes, int flags) {
  NEXT(msync);
  if (wish() == kIoError && strikes()) {
    errno = EIO;
    return -1;
  }
  return next(at, bytes, flags);
}

int ftruncate64(int fd, off64_t size) {
  NEXT(ftruncate64);
  FAIL_IF(SPACE | IO | INTERRUPT, fd, NULL);
  return next(fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int rename(const char* from, const char* to) {
  NEXT(rename);
  FAIL_IF(SPACE | IO, -1, to);
  return next(from, to);
}

static mode_t mode_of(int flags, va_list more) { return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; }

int open64(const char* path, int flags, ...) {
  NEXT(open64);
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  if (below_length > 0) FAIL_IF((flags & O_CREAT) != 0 ? SPACE | IO | INTERRUPT : INTERRUPT, -1, path);
  return next(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open64(path, flags, mode);
}
