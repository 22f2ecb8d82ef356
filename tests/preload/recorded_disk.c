/* A disk that remembers in which order it was written: what every process changes below a folder goes into one log,
 * and bench/stress/crash/recorded_disk.py makes of it what a power cut at any moment may leave.
 *
 * MOIL_RECORD names the log, MOIL_RECORD_BELOW the folder, without a link in its path. The log has a record for
 * each change, in the order of the changes: a lock is held over a change and its record. A flush is two
 * records, for what others write meanwhile is not in it. It takes MOIL_RECORD_FLUSH_MS milliseconds and flushes nothing.
 *
 * Unseen goes what the C library writes for itself (fwrite) and what is written into a map: whoever replays a log
 * compares what comes of all of it with the folder. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "next.h"

static int record = -1; /* the log */
static const char* below;
static size_t below_length;
static long flush_ms;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of threads; the log's flock is one of processes */

__attribute__((constructor)) static void begin(void) {
  const char* file = getenv("MOIL_RECORD");
  const char* ms = getenv("MOIL_RECORD_FLUSH_MS");
  below = getenv("MOIL_RECORD_BELOW");
  if (file == NULL || below == NULL) return;
  below_length = strlen(below);
  flush_ms = ms ? atol(ms) : 0;
  NEXT(open64);
  record = next(file, O_WRONLY | O_APPEND | O_CLOEXEC);
}

/* ---- places ---- */

static int is_below(const char* path) {
  return strncmp(path, below, below_length) == 0 && (path[below_length] == 0 || path[below_length] == '/');
}

/* If the file is now. 0: it is not below the folder, or has no name any more. */
static int place_of(int fd, char* path) {
  if (record < 0) return 0;
  const int before = errno;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, PATH_MAX - 1);
  errno = before;
  if (length < 0) return 0;
  path[length] = 0;
  static const char kGone[] = " (deleted)";
  const size_t gone = sizeof kGone - 1;
  return is_below(path) && !((size_t)length > gone && strcmp(path + length - gone, kGone) == 0);
}

/* The name as a whole path. 0: it is not below the folder. */
static int whole(int folder, const char* name, char* path) {
  if (record < 0 || name == NULL) return 0;
  const int before = errno;
  int known = 1;
  if (name[0] == '/') {
    known = snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
  } else {
    char at[PATH_MAX];
    known = folder == AT_FDCWD ? getcwd(at, sizeof at) != NULL : place_of(folder, at);
    if (known) known = snprintf(path, PATH_MAX, "%.2000s/%.2000s", at, name) < PATH_MAX;
  }
  errno = before;
  return known && is_below(path);
}

static int is_there(const char* path) {
  struct stat info;
  const int before = errno;
  const int found = lstat(path, &info) == 0;
  errno = before;
  return found;
}

/* ---- the log ---- */

static void lock(void) {
  pthread_mutex_lock(&mutex);
  while (flock(record, LOCK_EX) != 0 && errno == EINTR) {
  }
}

static void unlock(void) {
  flock(record, LOCK_UN);
  pthread_mutex_unlock(&mutex);
}

struct Fields {
  uint32_t kind, path, other; /* lengths of the two paths behind this */
  uint32_t pad;
  int64_t at, bytes; /* `bytes` of content behind the paths where the kind is a write's */
};

enum Kind {
  kCreate = 1, /* path */
  kFolder,     /* path */
  kWrite,      /* path, at, bytes */
  kWriteThrough, /* the same, and it is flushed */
  kSize,       /* path, at: its new size */
  kZero,       /* path, at, bytes: a hole */
  kRename,     /* path, other */
  kRemove,     /* path */
  kFlushBegins, /* path, at: its number; without a path: of all files */
  kFlushed,    /* at: its number */
  kMark,       /* of whoever asks the programs: other is its text */
};

/* Called with the lock held. */
static void note(enum Kind kind, const char* path, const char* other, int64_t at, const struct iovec* content, int parts,
                 int64_t bytes) {
  const struct Fields fields = {(uint32_t)kind, (uint32_t)strlen(path), (uint32_t)strlen(other), 0, at, bytes};
  struct iovec all[IOV_MAX] = {{(void*)&fields, sizeof fields}, {(void*)path, fields.path}, {(void*)other, fields.other}};
  int count = 3;
  int64_t left = kind == kWrite || kind == kWriteThrough ? bytes : 0;
  const int before = errno;
  for (int i = 0; i < parts && left > 0 && count < IOV_MAX; ++i) {
    const size_t some = (int64_t)content[i].iov_len < left ? content[i].iov_len : (size_t)left;
    all[count++] = (struct iovec){content[i].iov_base, some};
    left -= (int64_t)some;
  }
  NEXT(writev);
  ssize_t whole_record = 0;
  for (int i = 0; i < count; ++i) whole_record += (ssize_t)all[i].iov_len;
  if (next(record, all, count) != whole_record) abort(); /* a log with gaps is none */
  errno = before;
}

static void note_name(enum Kind kind, const char* path) { note(kind, path, "", 0, NULL, 0, 0); }

/* ---- content ---- */

static void note_write(int fd, const char* path, int64_t at, const struct iovec* content, int parts, ssize_t bytes) {
  const int is_through = (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
  note(is_through ? kWriteThrough : kWrite, path, "", at, content, parts, bytes);
}

/* `place` < 0: if the file stands. */
#define WRITE(call, content, parts, place)                                        \
  do {                                                                            \
    char path[PATH_MAX];                                                          \
    if (!place_of(fd, path)) return call;                                         \
    lock();                                                                       \
    const ssize_t done = call;                                                    \
    const int64_t end = (place) < 0 && done > 0 ? lseek(fd, 0, SEEK_CUR) : 0;     \
    const int is_named = place_of(fd, path);                                      \
    if (done > 0 && is_named)                                                     \
      note_write(fd, path, (place) < 0 ? end - done : (place), content, parts, done); \
    unlock();                                                                     \
    return done;                                                                  \
  } while (0)

ssize_t write(int fd, const void* from, size_t bytes) {
  NEXT(write);
  const struct iovec content = {(void*)from, bytes};
  WRITE(next(fd, from, bytes), &content, 1, (int64_t)-1);
}

ssize_t writev(int fd, const struct iovec* from, int count) {
  NEXT(writev);
  WRITE(next(fd, from, count), from, count, (int64_t)-1);
}

ssize_t pwrite64(int fd, const void* from, size_t bytes, off64_t at) {
  NEXT(pwrite64);
  const struct iovec content = {(void*)from, bytes};
  WRITE(next(fd, from, bytes, at), &content, 1, (int64_t)at);
}
ssize_t pwrite(int fd, const void* from, size_t bytes, off_t at) { return pwrite64(fd, from, bytes, at); }

ssize_t pwritev64(int fd, const struct iovec* from, int count, off64_t at) {
  NEXT(pwritev64);
  WRITE(next(fd, from, count, at), from, count, (int64_t)at);
}
ssize_t pwritev(int fd, const struct iovec* from, int count, off_t at) { return pwritev64(fd, from, count, at); }

/* What the kernel copies is refused, as by a file system that has no such call: it is written then. */
ssize_t copy_file_range(int from, off64_t* from_at, int fd, off64_t* at, size_t bytes, unsigned flags) {
  NEXT(copy_file_range);
  char path[PATH_MAX];
  if (!place_of(fd, path)) return next(from, from_at, fd, at, bytes, flags);
  errno = ENOSYS;
  return -1;
}

ssize_t sendfile64(int fd, int from, off64_t* at, size_t bytes) {
  NEXT(sendfile64);
  char path[PATH_MAX];
  if (!place_of(fd, path)) return next(fd, from, at, bytes);
  errno = EINVAL;
  return -1;
}
ssize_t sendfile(int fd, int from, off_t* at, size_t bytes) { return sendfile64(fd, from, at, bytes); }

/* A call that gives 0 if it is done. */
#define CHANGE(type, call, is_ours, record_it) \
  do {                                         \
    if (!(is_ours)) return call;               \
    lock();                                    \
    const type done = call;                    \
    if (done == 0) record_it;                  \
    unlock();                                  \
    return done;                               \
  } while (0)

int ftruncate64(int fd, off64_t size) {
  NEXT(ftruncate64);
  char path[PATH_MAX];
  CHANGE(int, next(fd, size), place_of(fd, path), note(kSize, path, "", size, NULL, 0, 0));
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

/* Called with the lock held. */
static void note_room(int fd, const char* path, int mode, int64_t at, int64_t bytes) {
  struct stat info;
  if ((mode & FALLOC_FL_PUNCH_HOLE) != 0) return note(kZero, path, "", at, NULL, 0, bytes);
  if ((mode & FALLOC_FL_KEEP_SIZE) == 0 && fstat(fd, &info) == 0) note(kSize, path, "", info.st_size, NULL, 0, 0);
}

int fallocate64(int fd, int mode, off64_t at, off64_t bytes) {
  NEXT(fallocate64);
  char path[PATH_MAX];
  CHANGE(int, next(fd, mode, at, bytes), place_of(fd, path), note_room(fd, path, mode, at, bytes));
}
int fallocate(int fd, int mode, off_t at, off_t bytes) { return fallocate64(fd, mode, at, bytes); }

int posix_fallocate64(int fd, off64_t at, off64_t bytes) {
  NEXT(posix_fallocate64);
  char path[PATH_MAX];
  CHANGE(int, next(fd, at, bytes), place_of(fd, path), note_room(fd, path, 0, at, bytes));
}
int posix_fallocate(int fd, off_t at, off_t bytes) { return posix_fallocate64(fd, at, bytes); }

/* ---- flushes ---- */

static int flush(const char* path) {
  static int count;
  lock();
  const int64_t number = (int64_t)getpid() << 32 | (int64_t)count++;
  note(kFlushBegins, path, "", number, NULL, 0, 0);
  unlock();
  struct timespec left = {flush_ms / 1000, flush_ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
  lock();
  note(kFlushed, "", "", number, NULL, 0, 0);
  unlock();
  return 0;
}

int fsync(int fd) {
  NEXT(fsync);
  char path[PATH_MAX];
  return place_of(fd, path) ? flush(path) : next(fd);
}

int fdatasync(int fd) {
  NEXT(fdatasync);
  char path[PATH_MAX];
  return place_of(fd, path) ? flush(path) : next(fd);
}

int syncfs(int fd) {
  NEXT(syncfs);
  char path[PATH_MAX];
  return place_of(fd, path) ? flush("") : next(fd);
}

void sync(void) {
  if (record >= 0) flush("");
}

/* ---- names ---- */

/* For a call that has made or emptied a file. Called with the lock held. */
static void note_open(int fd, const char* path, int was_there, int flags) {
  if (fd < 0 || (flags & O_TMPFILE) == O_TMPFILE) return;
  if (!was_there) return note_name(kCreate, path);
  if ((flags & O_TRUNC) != 0 && (flags & O_ACCMODE) != O_RDONLY) note(kSize, path, "", 0, NULL, 0, 0);
}

static int is_change(int flags) { return (flags & (O_CREAT | O_TRUNC)) != 0; }
static mode_t mode_of(int flags, va_list more) { return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; }

#define OPEN(call, folder, name, flags)                            \
  do {                                                             \
    char path[PATH_MAX];                                           \
    if (!is_change(flags) || !whole(folder, name, path)) return call; \
    lock();                                                        \
    const int was_there = is_there(path);                          \
    const int fd = call;                                           \
    note_open(fd, path, was_there, flags);                         \
    unlock();                                                      \
    return fd;                                                     \
  } while (0)

#define MODE                          \
  va_list more;                       \
  va_start(more, flags);              \
  const mode_t mode = mode_of(flags, more); \
  va_end(more)

int open64(const char* name, int flags, ...) {
  NEXT(open64);
  MODE;
  OPEN(next(name, flags, mode), AT_FDCWD, name, flags);
}

int open(const char* name, int flags, ...) {
  MODE;
  return open64(name, flags, mode);
}

int openat64(int folder, const char* name, int flags, ...) {
  NEXT(openat64);
  MODE;
  OPEN(next(folder, name, flags, mode), folder, name, flags);
}

int openat(int folder, const char* name, int flags, ...) {
  MODE;
  return openat64(folder, name, flags, mode);
}

int creat64(const char* name, mode_t mode) { return open64(name, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat(const char* name, mode_t mode) { return creat64(name, mode); }

FILE* fopen64(const char* name, const char* how) {
  NEXT(fopen64);
  char path[PATH_MAX];
  if (how[0] == 'r' || !whole(AT_FDCWD, name, path)) return next(name, how);
  lock();
  const int was_there = is_there(path);
  FILE* file = next(name, how);
  note_open(file == NULL ? -1 : fileno(file), path, was_there, O_WRONLY | (how[0] == 'w' ? O_TRUNC : 0));
  unlock();
  return file;
}
FILE* fopen(const char* name, const char* how) { return fopen64(name, how); }

/* The name is known afterwards alone. */
int mkostemp64(char* name, int flags) {
  NEXT(mkostemp64);
  char path[PATH_MAX];
  if (!whole(AT_FDCWD, name, path)) return next(name, flags);
  lock();
  const int fd = next(name, flags);
  if (fd >= 0 && whole(AT_FDCWD, name, path)) note_name(kCreate, path);
  unlock();
  return fd;
}
int mkostemp(char* name, int flags) { return mkostemp64(name, flags); }
int mkstemp64(char* name) { return mkostemp64(name, 0); }
int mkstemp(char* name) { return mkostemp64(name, 0); }

int mkdirat(int folder, const char* name, mode_t mode) {
  NEXT(mkdirat);
  char path[PATH_MAX];
  CHANGE(int, next(folder, name, mode), whole(folder, name, path), note_name(kFolder, path));
}
int mkdir(const char* name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

char* mkdtemp(char* name) {
  NEXT(mkdtemp);
  char path[PATH_MAX];
  if (!whole(AT_FDCWD, name, path)) return next(name);
  lock();
  char* made = next(name);
  if (made != NULL && whole(AT_FDCWD, name, path)) note_name(kFolder, path);
  unlock();
  return made;
}

int unlinkat(int folder, const char* name, int flags) {
  NEXT(unlinkat);
  char path[PATH_MAX];
  CHANGE(int, next(folder, name, flags), whole(folder, name, path), note_name(kRemove, path));
}
int unlink(const char* name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char* name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int remove(const char* name) {
  NEXT(remove);
  char path[PATH_MAX];
  CHANGE(int, next(name), whole(AT_FDCWD, name, path), note_name(kRemove, path));
}

/* Whatever crosses the folder's border comes as a file of unknown content: the programs do not do that. */
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  NEXT(renameat2);
  char path[PATH_MAX], other[PATH_MAX];
  const int is_ours = whole(from_folder, from, path);
  if (whole(to_folder, to, other) != is_ours || (is_ours && flags != 0)) {
    errno = EXDEV;
    return -1;
  }
  CHANGE(int, next(from_folder, from, to_folder, to, flags), is_ours, note(kRename, path, other, 0, NULL, 0, 0));
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}
int rename(const char* from, const char* to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

/* A file with two names is none that a replay knows. */
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  NEXT(linkat);
  char path[PATH_MAX];
  if (!whole(to_folder, to, path)) return next(from_folder, from, to_folder, to, flags);
  errno = EPERM;
  return -1;
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
