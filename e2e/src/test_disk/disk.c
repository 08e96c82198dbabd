/*
 * A disk for tests, loaded into the launcher, the gateway and the signer with LD_PRELOAD. It writes down every change below one
 * folder, so that the test can later build that folder as a power cut could have left it; and it fails, or tells another time,
 * when the test says so. Nothing in the server knows of it.
 *
 * DISK_ROOT     the folder, with a slash at its end
 * DISK_JOURNAL  where changes are written down, in the order in which they were made; may be absent
 * DISK_SETTINGS a file of 64-bit numbers that the test writes while we run; may be absent
 */
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
/* The function that we stand in front of. */
#define REAL(name)                                             \
  ({                                                           \
    static __typeof__(&name) found;                            \
    if (found == NULL) found = dlsym(RTLD_NEXT, #name);        \
    found;                                                     \
  })

/* One record of the journal; path, second path and content follow. All numbers in the machine's order. */
struct record {
  uint32_t length; /* of all that follows this number */
  uint32_t kind;
  uint64_t inode;
  uint64_t offset;
  uint32_t path_length;
  uint32_t second_length;
};

enum { CREATE = 1, WRITE, RESIZE, SYNC, SYNC_FOLDER, LINK, UNLINK, RENAME, FOLDER, WRITE_THROUGH };

/* One row of settings for each part of the data folder. */
enum { DATABASE, SIGNER, LAUNCHER, PARTS };

struct settings {
  volatile int64_t clock_ms;          /* added to the time of day */
  volatile int64_t refuse[PARTS];     /* every change fails with this errno */
  volatile int64_t room[PARTS];       /* a file may grow by so many bytes more, then the disk is full; below zero: no limit */
};

struct file {
  char *path;
  uint64_t inode;
  int part;
  int flags;
};

enum { MOST_FILES = 4096 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct file files[MOST_FILES];
static const char *root;
static size_t root_length;
static int journal = -1;
static struct settings *settings;
static int64_t grown[PARTS]; /* since there is a limit */

static __attribute__((constructor)) void begin(void) {
  root = getenv("DISK_ROOT");
  if (root == NULL) return;
  root_length = strlen(root);
  const char *path = getenv("DISK_JOURNAL");
  if (path != NULL) {
    int low = REAL(open)(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    /* Descriptors 3 and 4 belong to the processes. */
    journal = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 900);
    if (low >= 0) REAL(close)(low);
    if (journal < 0) abort();
  }
  path = getenv("DISK_SETTINGS");
  if (path == NULL) return;
  int file = REAL(open)(path, O_RDONLY | O_CLOEXEC);
  void *shared = mmap(NULL, sizeof(struct settings), PROT_READ, MAP_SHARED, file, 0);
  if (file < 0 || shared == MAP_FAILED) abort();
  settings = shared;
  REAL(close)(file);
}

static int is_ours(const char *path) {
  if (root == NULL || path == NULL) return 0;
  if (strncmp(path, root, root_length) == 0) return 1;
  return strncmp(path, root, root_length - 1) == 0 && path[root_length - 1] == 0;
}

static int part_of(const char *path) {
  const char *inside = path + root_length;
  if (strlen(path) <= root_length) return LAUNCHER;
  if (strncmp(inside, "database/", 9) == 0) return DATABASE;
  if (strncmp(inside, "signer/", 7) == 0) return SIGNER;
  return LAUNCHER;
}

/* Whether a change must not be made, with the reason as its error. */
static int refuse(int part) {
  int why = settings == NULL ? 0 : (int)settings->refuse[part];
  if (why != 0) errno = why;
  return why != 0;
}

static int is_limited(int part) {
  int limited = settings != NULL && settings->room[part] >= 0;
  if (!limited) grown[part] = 0;
  return limited;
}

static int64_t room_left(int part) {
  int64_t left = settings->room[part] - grown[part];
  return left < 0 ? 0 : left;
}

/* A full disk has no room for a new file either. */
static int refuse_new(int part) {
  if (!is_limited(part) || room_left(part) > 0) return 0;
  errno = ENOSPC;
  return 1;
}

static void note(int kind, uint64_t inode, uint64_t offset, const char *path, const char *second, const void *bytes, size_t length) {
  if (journal < 0) return;
  int kept = errno;
  struct record head = {0, kind, inode, offset, path ? strlen(path) : 0, second ? strlen(second) : 0};
  head.length = sizeof head - sizeof head.length + head.path_length + head.second_length + length;
  struct iovec parts[] = {
      {&head, sizeof head}, {(void *)path, head.path_length}, {(void *)second, head.second_length}, {(void *)bytes, length}};
  if (REAL(writev)(journal, parts, 4) != (ssize_t)(head.length + sizeof head.length)) abort();
  errno = kept;
}

static struct file *file_of(int fd) {
  return fd >= 0 && fd < MOST_FILES && files[fd].path != NULL ? &files[fd] : NULL;
}

static void forget(int fd) {
  struct file *file = file_of(fd);
  if (file == NULL) return;
  free(file->path);
  file->path = NULL;
}

/*
 * The same for whoever writes. Not every descriptor is closed by the function that we stand in front of (libc closes its own streams
 * itself); the number then comes back as another file, or as a socket, of which nothing must be written down.
 */
static struct file *written_file(int fd) {
  struct file *file = file_of(fd);
  struct stat found;
  if (file == NULL || (fstat(fd, &found) == 0 && found.st_ino == file->inode)) return file;
  pthread_mutex_lock(&turn);
  forget(fd);
  pthread_mutex_unlock(&turn);
  return NULL;
}

static int open_ours(const char *path, int flags, mode_t mode) {
  int part = part_of(path);
  struct stat found;
  pthread_mutex_lock(&turn);
  int is_there = stat(path, &found) == 0;
  int changes = (flags & O_ACCMODE) != O_RDONLY || ((flags & O_CREAT) && !is_there);
  int fd = -1;
  if (!(changes && refuse(part)) && !((flags & O_CREAT) && !is_there && refuse_new(part))) fd = REAL(open64)(path, flags, mode);
  if (fd >= MOST_FILES) abort();
  if (fd >= 0 && fstat(fd, &found) == 0) {
    forget(fd);
    files[fd] = (struct file){strdup(path), found.st_ino, part, flags};
    if (!is_there) note(CREATE, found.st_ino, 0, path, NULL, NULL, 0);
    else if ((flags & O_TRUNC) && changes) note(RESIZE, found.st_ino, 0, NULL, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&turn);
  return fd;
}

#define MODE_OF(flags)                                    \
  mode_t mode = 0;                                        \
  if ((flags) & (O_CREAT | O_TMPFILE)) {                  \
    va_list rest;                                         \
    va_start(rest, flags);                                \
    mode = va_arg(rest, mode_t);                          \
    va_end(rest);                                         \
  }

EXPORT int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return is_ours(path) ? open_ours(path, flags, mode) : REAL(open)(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...) {
  MODE_OF(flags)
  return is_ours(path) ? open_ours(path, flags, mode) : REAL(open64)(path, flags, mode);
}

EXPORT int close(int fd) {
  if (file_of(fd) == NULL) return REAL(close)(fd);
  pthread_mutex_lock(&turn);
  forget(fd);
  int result = REAL(close)(fd);
  pthread_mutex_unlock(&turn);
  return result;
}

/* How much of a write there is room for. Only growth needs room: what lies inside the file has its place already. */
static size_t room_for(struct file *file, uint64_t offset, size_t length, uint64_t size) {
  if (!is_limited(file->part)) return length;
  uint64_t most = size + room_left(file->part);
  size_t fits = offset + length <= most ? length : offset >= most ? 0 : most - offset;
  if (offset + fits > size) grown[file->part] += offset + fits - size;
  return fits;
}

static ssize_t write_ours(int fd, const void *bytes, size_t length, int64_t at) {
  struct file *file = file_of(fd);
  struct stat found;
  fstat(fd, &found);
  uint64_t offset = at >= 0 ? (uint64_t)at : (file->flags & O_APPEND) ? (uint64_t)found.st_size : (uint64_t)lseek(fd, 0, SEEK_CUR);
  if (refuse(file->part)) return -1;
  size_t fits = room_for(file, offset, length, found.st_size);
  if (fits == 0 && length > 0) {
    errno = ENOSPC;
    return -1;
  }
  ssize_t written = at >= 0 ? REAL(pwrite64)(fd, bytes, fits, at) : REAL(write)(fd, bytes, fits);
  if (written > 0) {
    int kind = file->flags & (O_DSYNC | O_SYNC) ? WRITE_THROUGH : WRITE;
    note(kind, file->inode, offset, NULL, NULL, bytes, written);
  }
  return written;
}

EXPORT ssize_t write(int fd, const void *bytes, size_t length) {
  if (written_file(fd) == NULL) return REAL(write)(fd, bytes, length);
  pthread_mutex_lock(&turn);
  ssize_t written = write_ours(fd, bytes, length, -1);
  pthread_mutex_unlock(&turn);
  return written;
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  if (written_file(fd) == NULL) return REAL(pwrite64)(fd, bytes, length, at);
  pthread_mutex_lock(&turn);
  ssize_t written = write_ours(fd, bytes, length, at);
  pthread_mutex_unlock(&turn);
  return written;
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return pwrite64(fd, bytes, length, at); }

/* The server writes in one piece; whoever begins to do otherwise must be written down too, so this is loud. */
EXPORT ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (written_file(fd) != NULL && count != 1) abort();
  return count == 1 ? write(fd, parts[0].iov_base, parts[0].iov_len) : REAL(writev)(fd, parts, count);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  if (written_file(fd) != NULL && count != 1) abort();
  return count == 1 ? pwrite64(fd, parts[0].iov_base, parts[0].iov_len, at) : REAL(pwritev)(fd, parts, count, at);
}

EXPORT int ftruncate64(int fd, off64_t length) {
  struct file *file = written_file(fd);
  if (file == NULL) return REAL(ftruncate64)(fd, length);
  pthread_mutex_lock(&turn);
  int result = refuse(file->part) ? -1 : REAL(ftruncate64)(fd, length);
  if (result == 0) note(RESIZE, file->inode, length, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&turn);
  return result;
}

EXPORT int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* Nothing is waited for: what is on the disk is what the journal says. */
static int sync_any(int fd) {
  struct file *file = file_of(fd);
  struct stat found;
  pthread_mutex_lock(&turn);
  int result = refuse(file->part) ? -1 : 0;
  if (result == 0 && fstat(fd, &found) == 0) {
    if (S_ISDIR(found.st_mode)) note(SYNC_FOLDER, 0, 0, file->path, NULL, NULL, 0);
    else note(SYNC, file->inode, 0, NULL, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&turn);
  return result;
}

EXPORT int fsync(int fd) { return written_file(fd) == NULL ? REAL(fsync)(fd) : sync_any(fd); }
EXPORT int fdatasync(int fd) { return written_file(fd) == NULL ? REAL(fdatasync)(fd) : sync_any(fd); }

static uint64_t inode_of(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 ? found.st_ino : 0;
}

EXPORT int unlink(const char *path) {
  if (!is_ours(path)) return REAL(unlink)(path);
  pthread_mutex_lock(&turn);
  int result = refuse(part_of(path)) ? -1 : REAL(unlink)(path);
  if (result == 0) note(UNLINK, 0, 0, path, NULL, NULL, 0);
  pthread_mutex_unlock(&turn);
  return result;
}

EXPORT int unlinkat(int folder, const char *path, int flags) {
  return is_ours(path) && flags == 0 ? unlink(path) : REAL(unlinkat)(folder, path, flags);
}

EXPORT int remove(const char *path) { return is_ours(path) ? unlink(path) : REAL(remove)(path); }

EXPORT int link(const char *from, const char *to) {
  if (!is_ours(to)) return REAL(link)(from, to);
  pthread_mutex_lock(&turn);
  int result = refuse(part_of(to)) || refuse_new(part_of(to)) ? -1 : REAL(link)(from, to);
  if (result == 0) note(LINK, inode_of(to), 0, to, NULL, NULL, 0);
  pthread_mutex_unlock(&turn);
  return result;
}

EXPORT int rename(const char *from, const char *to) {
  if (!is_ours(to)) return REAL(rename)(from, to);
  pthread_mutex_lock(&turn);
  int result = refuse(part_of(to)) ? -1 : REAL(rename)(from, to);
  if (result == 0) note(RENAME, inode_of(to), 0, from, to, NULL, 0);
  pthread_mutex_unlock(&turn);
  return result;
}

/* Whoever asks first must hear what whoever writes would hear. The folders themselves are asked about, too. */
EXPORT int access(const char *path, int mode) {
  if (!is_ours(path) || !(mode & W_OK)) return REAL(access)(path, mode);
  char inside[PATH_MAX + 2];
  snprintf(inside, sizeof inside, "%s/", path);
  return refuse(part_of(inside)) ? -1 : REAL(access)(path, mode);
}

EXPORT int mkdir(const char *path, mode_t mode) {
  if (!is_ours(path)) return REAL(mkdir)(path, mode);
  pthread_mutex_lock(&turn);
  int result = -1;
  struct stat found;
  if (stat(path, &found) == 0) errno = EEXIST;
  else if (!refuse(part_of(path)) && !refuse_new(part_of(path))) result = REAL(mkdir)(path, mode);
  if (result == 0) note(FOLDER, 0, 0, path, NULL, NULL, 0);
  pthread_mutex_unlock(&turn);
  return result;
}

/* The clock on the wall; the one that measures durations goes on as it is. */
EXPORT int clock_gettime(clockid_t id, struct timespec *now) {
  int result = REAL(clock_gettime)(id, now);
  if (result != 0 || settings == NULL || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return result;
  int64_t shift_ms = settings->clock_ms;
  int64_t nanoseconds = now->tv_nsec + shift_ms % 1000 * 1000000;
  now->tv_sec += shift_ms / 1000 + (nanoseconds < 0 ? -1 : nanoseconds / 1000000000);
  now->tv_nsec = (nanoseconds + 1000000000) % 1000000000;
  return result;
}

EXPORT int gettimeofday(struct timeval *now, void *zone) {
  struct timespec precise;
  if (settings == NULL || settings->clock_ms == 0) return REAL(gettimeofday)(now, zone);
  clock_gettime(CLOCK_REALTIME, &precise);
  *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
  return 0;
}

EXPORT time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
