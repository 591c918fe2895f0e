// Records what a process asks of the disk, for power.test.ts: every write, truncation and change of a
// name below POWER_ROOT, and when each synchronisation began and ended, in one order, into POWER_LOG.
// Preloaded, so that the native writes of LMDB are seen, too.
//
// Record: kind u8, 3 bytes unused, path length u32, data length u32, 4 bytes unused, inode u64,
// offset u64, number of the synchronisation u64; path; data.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE, SYNC_BEGIN, SYNC_END, CREATE, RENAME, REMOVE, MKDIR };

struct head {
  uint8_t kind, unused[3];
  uint32_t path_length, data_length, unused2;
  uint64_t inode, offset, sync;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static char root[PATH_MAX];
static size_t root_length;
static uint64_t syncs;

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("POWER_ROOT"), *log = getenv("POWER_LOG");
  if (!path || !log || !realpath(path, root)) return;
  root_length = strlen(root);
  log_fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void put(const void *bytes, size_t length) {
  while (length > 0) {
    ssize_t n = syscall(SYS_write, log_fd, bytes, length);
    if (n <= 0) abort();
    bytes = (const char *)bytes + n;
    length -= n;
  }
}

static void record(int kind, uint64_t inode, uint64_t offset, uint64_t sync, const char *path,
                   const struct iovec *data, int count, size_t length) {
  struct head head = {0};
  head.kind = kind;
  head.path_length = strlen(path);
  head.data_length = length;
  head.inode = inode;
  head.offset = offset;
  head.sync = sync;
  int before = errno;
  pthread_mutex_lock(&lock);
  put(&head, sizeof head);
  put(path, head.path_length);
  for (int i = 0; i < count && length > 0; i++) {
    size_t part = data[i].iov_len < length ? data[i].iov_len : length;
    put(data[i].iov_base, part);
    length -= part;
  }
  pthread_mutex_unlock(&lock);
  errno = before;
}

static int is_below(const char *path) {
  return log_fd >= 0 && !strncmp(path, root, root_length) &&
         (path[root_length] == '/' || path[root_length] == 0);
}

// The path of an open file and its inode; 0 where it is none of ours.
static int known(int fd, char *path, uint64_t *inode) {
  if (log_fd < 0) return 0;
  int before = errno;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, PATH_MAX - 1);
  struct stat s;
  int found = 0;
  if (n > 0) {
    path[n] = 0;
    if (is_below(path) && fstat(fd, &s) == 0 && (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode))) {
      *inode = s.st_ino;
      found = 1;
    }
  }
  errno = before;
  return found;
}

// The absolute path of a name that may not exist; its folder must.
static int absolute(const char *name, char *path) {
  if (log_fd < 0) return 0;
  int before = errno;
  char copy[PATH_MAX], folder[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", name);
  size_t length = strlen(copy);
  while (length > 1 && copy[length - 1] == '/') copy[--length] = 0;
  char *slash = strrchr(copy, '/');
  const char *base = slash ? slash + 1 : copy;
  if (slash) *slash = 0;
  const char *in = !slash ? "." : slash == copy ? "/" : copy;
  int found = realpath(in, folder) && strlen(folder) + strlen(base) + 2 < PATH_MAX;
  if (found) {
    strcpy(path, folder);
    strcat(path, "/");
    strcat(path, base);
  }
  errno = before;
  return found && is_below(path);
}

static uint64_t next_sync(void) {
  return __sync_add_and_fetch(&syncs, 1);
}

static void written(int fd, const struct iovec *data, int count, ssize_t length, int64_t offset) {
  char path[PATH_MAX];
  uint64_t inode;
  if (length <= 0 || !known(fd, path, &inode)) return;
  if (offset < 0) offset = lseek(fd, 0, SEEK_CUR) - length;
  // Such a file answers when this write, and no other, is on disk.
  uint64_t number = fcntl(fd, F_GETFL) & O_DSYNC ? next_sync() : 0;
  record(WRITE, inode, offset, number, path, data, count, length);
  if (number) record(SYNC_END, inode, 0, number, path, NULL, 0, 0);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(write);
  ssize_t n = real(fd, bytes, length);
  struct iovec one = {(void *)bytes, length};
  written(fd, &one, 1, n, -1);
  return n;
}

ssize_t writev(int fd, const struct iovec *data, int count) {
  REAL(writev);
  ssize_t n = real(fd, data, count);
  written(fd, data, count, n, -1);
  return n;
}

#define PWRITE(name, type) \
  ssize_t name(int fd, const void *bytes, size_t length, type offset) { \
    REAL(name); \
    ssize_t n = real(fd, bytes, length, offset); \
    struct iovec one = {(void *)bytes, length}; \
    written(fd, &one, 1, n, offset); \
    return n; \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define PWRITEV(name, type) \
  ssize_t name(int fd, const struct iovec *data, int count, type offset) { \
    REAL(name); \
    ssize_t n = real(fd, data, count, offset); \
    written(fd, data, count, n, offset); \
    return n; \
  }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

#define SYNC(name) \
  int name(int fd) { \
    REAL(name); \
    char path[PATH_MAX]; \
    uint64_t inode, number = 0; \
    int ours = known(fd, path, &inode); \
    if (ours) record(SYNC_BEGIN, inode, 0, number = next_sync(), path, NULL, 0, 0); \
    int result = real(fd); \
    if (ours && result == 0) record(SYNC_END, inode, 0, number, path, NULL, 0, 0); \
    return result; \
  }
SYNC(fsync)
SYNC(fdatasync)

#define FTRUNCATE(name, type) \
  int name(int fd, type length) { \
    REAL(name); \
    char path[PATH_MAX]; \
    uint64_t inode; \
    int result = real(fd, length); \
    if (result == 0 && known(fd, path, &inode)) \
      record(TRUNCATE, inode, length, 0, path, NULL, 0, 0); \
    return result; \
  }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

static void opened(int fd, int existed, int flags) {
  char path[PATH_MAX];
  uint64_t inode;
  if (fd < 0 || !known(fd, path, &inode)) return;
  if (!existed) record(CREATE, inode, 0, 0, path, NULL, 0, 0);
  else if (flags & O_TRUNC) record(TRUNCATE, inode, 0, 0, path, NULL, 0, 0);
}

static int exists(int folder, const char *name) {
  struct stat s;
  int before = errno;
  int found = fstatat(folder, name, &s, 0) == 0;
  errno = before;
  return found;
}

#define MODE(last) \
  mode_t mode = 0; \
  if (flags & O_CREAT) { \
    va_list rest; \
    va_start(rest, last); \
    mode = va_arg(rest, int); \
    va_end(rest); \
  }
#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    MODE(flags) \
    int existed = !(flags & O_CREAT) || exists(AT_FDCWD, path); \
    int fd = real(path, flags, mode); \
    opened(fd, existed, flags); \
    return fd; \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    REAL(name); \
    MODE(flags) \
    int existed = !(flags & O_CREAT) || exists(folder, path); \
    int fd = real(folder, path, flags, mode); \
    opened(fd, existed, flags); \
    return fd; \
  }
OPENAT(openat)
OPENAT(openat64)

int rename(const char *from, const char *to) {
  REAL(rename);
  char a[PATH_MAX], b[PATH_MAX];
  int ours = absolute(from, a) && absolute(to, b);
  int result = real(from, to);
  struct iovec one = {b, ours ? strlen(b) : 0};
  if (result == 0 && ours) record(RENAME, 0, 0, 0, a, &one, 1, one.iov_len);
  return result;
}

static void gone(const char *name) {
  char path[PATH_MAX];
  if (absolute(name, path)) record(REMOVE, 0, 0, 0, path, NULL, 0, 0);
}

#define REMOVING(name) \
  int name(const char *path) { \
    REAL(name); \
    int result = real(path); \
    if (result == 0) gone(path); \
    return result; \
  }
REMOVING(unlink)
REMOVING(rmdir)
REMOVING(remove)

int unlinkat(int folder, const char *name, int flags) {
  REAL(unlinkat);
  char in[PATH_MAX], path[2 * PATH_MAX];
  uint64_t inode;
  int ours = folder != AT_FDCWD && name[0] != '/' && known(folder, in, &inode);
  int result = real(folder, name, flags);
  if (result != 0) return result;
  if (ours) {
    snprintf(path, sizeof path, "%s/%s", in, name);
    record(REMOVE, 0, 0, 0, path, NULL, 0, 0);
  } else {
    gone(name);
  }
  return result;
}

int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  int result = real(path, mode);
  char whole[PATH_MAX];
  if (result == 0 && absolute(path, whole)) record(MKDIR, 0, 0, 0, whole, NULL, 0, 0);
  return result;
}
