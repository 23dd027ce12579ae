// SPDX-License-Identifier: Apache-2.0

// Sees every file operation of a program below one folder, and lets chosen ones go wrong. Loaded
// with LD_PRELOAD and told what to do by its environment:
//
//   UTTER_FAULT_FOLDER   the folder, an absolute path without links; nothing else is counted
//   UTTER_FAULT_TRACE    a file that gets one line for each operation, in the order in which they
//                        happened: operations then wait for each other
//   UTTER_FAULT_KILL     "N" or "-N": SIGKILL after operation N, or before it; the first is 1
//   UTTER_FAULT_AT       the operation that goes wrong
//   UTTER_FAULT_ONWARD   "1": all operations of the same kinds (see below) from then on as well;
//                        with EINTR every second one, since no signal comes for ever; "2": all
//   UTTER_FAULT_ERRNO    the error that it returns with; "short" writes half of what is asked for,
//                        "hang" does not return (without a trace, which others would wait for)
//   UTTER_FAULT_KINDS    the operations that may go wrong, as in the trace, with commas; all if empty
//   UTTER_FAULT_SYNC_MS  how much longer every fdatasync and fsync takes
//   UTTER_FAULT_QUOTA    bytes that may be written, or reserved, in all; beyond that ENOSPC
//   UTTER_FAULT_FREED    writes that get ENOSPC before there is room again
//
// A line of the trace: number, operation, thread, result, errno, path, second path or "-", offset or
// flags, length, the bytes that were written in base64 or "-", the nanoseconds at which it was
// called and at which it returned; separated by tabs. A line whose operation is about to kill the
// program and has not happened is not written.

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { path_size = 1024 };

static char folder[path_size];
static size_t folder_length;
static const char *kinds;
static long kill_at, fault_at, sync_ms, quota = -1, freed = -1;
static int fault_onward, fault_errno, fault_short, fault_hangs, trace = -1;
static atomic_long count, written, refused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("UTTER_FAULT_FOLDER");
    if (text == NULL) return;
    snprintf(folder, sizeof folder, "%s", text);
    folder_length = strlen(folder);
    kinds = getenv("UTTER_FAULT_KINDS");
    if (kinds && !*kinds) kinds = NULL;
    kill_at = number("UTTER_FAULT_KILL", 0);
    fault_at = number("UTTER_FAULT_AT", 0);
    fault_onward = number("UTTER_FAULT_ONWARD", 0);
    text = getenv("UTTER_FAULT_ERRNO");
    fault_short = text && strcmp(text, "short") == 0;
    fault_hangs = text && strcmp(text, "hang") == 0;
    fault_errno = number("UTTER_FAULT_ERRNO", EIO);
    sync_ms = number("UTTER_FAULT_SYNC_MS", 0);
    quota = number("UTTER_FAULT_QUOTA", -1);
    freed = number("UTTER_FAULT_FREED", -1);
    text = getenv("UTTER_FAULT_TRACE");
    if (text)
        // High, so that the numbers of the program's own descriptors stay as they are.
        trace = fcntl(
            syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600),
            F_DUPFD_CLOEXEC, 900);
}

// The path of a descriptor, or of a name beside it.
static void find(char *path, int descriptor, const char *name) {
    char link[64];
    ssize_t length = 0;
    path[0] = 0;
    if (name && name[0] == '/') {
        snprintf(path, path_size, "%s", name);
        return;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    if (descriptor == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    length = syscall(SYS_readlink, link, path, path_size - 1);
    if (length < 0) length = 0;
    path[length] = 0;
    if (name && strcmp(name, ".") != 0) snprintf(path + length, path_size - length, "/%s", name);
}

static int is_ours(const char *path) {
    return folder_length && strncmp(path, folder, folder_length) == 0
           && (path[folder_length] == 0 || path[folder_length] == '/');
}

// One operation: what it is called, what it touches, and what is written by it.
struct operation {
    const char *name;
    char path[path_size], other[path_size];
    long long offset;
    size_t length;
    const void *bytes;
    long index;
    long long begin;
    int is_ours;
};

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Writes bytes in base64 (RFC 4648, 4), and returns how many characters that takes.
static size_t encode(const unsigned char *bytes, size_t count, char *text) {
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = 0;
    for (size_t i = 0; i < count; i += 3) {
        unsigned bits = bytes[i] << 16;
        if (i + 1 < count) bits |= bytes[i + 1] << 8;
        if (i + 2 < count) bits |= bytes[i + 2];
        text[length++] = digits[bits >> 18];
        text[length++] = digits[bits >> 12 & 63];
        text[length++] = i + 1 < count ? digits[bits >> 6 & 63] : '=';
        text[length++] = i + 2 < count ? digits[bits & 63] : '=';
    }
    return length;
}

static void note(struct operation *it, long result, int error) {
    char thread[17] = "";
    size_t kept = it->bytes && result > 0 ? (size_t)result : 0;
    char *line = malloc(3 * path_size + 2 * (kept + 2));
    size_t length;
    if (line == NULL || trace < 0) return free(line);
    prctl(PR_GET_NAME, thread);
    length = snprintf(
        line, 3 * path_size, "%ld\t%s\t%s\t%ld\t%d\t%s\t%s\t%lld\t%zu\t", it->index, it->name,
        thread, result, error, it->path, it->other[0] ? it->other : "-", it->offset, it->length);
    length += encode(it->bytes, kept, line + length);
    if (kept == 0) line[length++] = '-';
    length += sprintf(line + length, "\t%lld\t%lld\n", it->begin, now());
    if (syscall(SYS_write, trace, line, length) != (long)length) abort();
    free(line);
}

static void end_process(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int may_fail(const char *name) {
    const char *found = kinds ? strstr(kinds, name) : NULL;
    size_t length = strlen(name);
    if (kinds == NULL) return 1;
    while (found) {
        if ((found == kinds || found[-1] == ',') && (found[length] == 0 || found[length] == ','))
            return 1;
        found = strstr(found + 1, name);
    }
    return 0;
}

// Counts the operation. Returns the error that it fails with, 0 when it is to happen; `limit` is
// how much of a write is to happen.
static int enter(struct operation *it, size_t *limit) {
    it->is_ours = is_ours(it->path) || (it->other[0] && is_ours(it->other));
    if (!it->is_ours) return 0;
    it->begin = now();
    if (trace >= 0) pthread_mutex_lock(&lock);
    it->index = atomic_fetch_add(&count, 1) + 1;
    if (kill_at < 0 && it->index == -kill_at) end_process();
    if (quota >= 0 && limit) {
        long before = atomic_fetch_add(&written, (long)it->length);
        if (before + (long)it->length > quota
            && (freed < 0 || atomic_fetch_add(&refused, 1) < freed)) {
            atomic_fetch_sub(&written, (long)it->length);
            if (before >= quota) return ENOSPC;
            *limit = quota - before;
            atomic_fetch_add(&written, (long)*limit);
        }
    }
    if (quota >= 0 && strcmp(it->name, "allocate") == 0
        && atomic_load(&written) + (long)it->length > quota
        && (freed < 0 || atomic_load(&refused) < freed))
        return ENOSPC;
    if (fault_at > 0 && (it->index == fault_at || (fault_onward && it->index > fault_at))
        && (fault_errno != EINTR || fault_onward == 2 || (it->index - fault_at) % 2 == 0)
        && may_fail(it->name)) {
        while (fault_hangs) pause();
        if (!fault_short) return fault_errno;
        if (limit && it->length > 1) *limit = it->length / 2;
    }
    return 0;
}

static void leave(struct operation *it, long result) {
    int error = errno;
    if (!it->is_ours) return;
    note(it, result, result < 0 ? error : 0);
    if (it->index == kill_at) end_process();
    if (trace >= 0) pthread_mutex_unlock(&lock);
    errno = error;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// What one of our functions does: count, fail or call the next one, note.
#define PERFORM(call)                          \
    do {                                       \
        int fault_ = enter(&it, NULL);         \
        long result_ = -1;                     \
        if (fault_) errno = fault_;            \
        else result_ = (call);                 \
        leave(&it, result_);                   \
        return result_;                        \
    } while (0)

#define PERFORM_WRITE(size, call)              \
    do {                                       \
        size_t limit = (size);                 \
        int fault_ = enter(&it, &limit);       \
        long result_ = -1;                     \
        if (fault_) errno = fault_;            \
        else result_ = (call);                 \
        leave(&it, result_);                   \
        return result_;                        \
    } while (0)

#define OPEN(symbol)                                                          \
    int symbol(int at, const char *name, int flags, ...) {                    \
        struct operation it = {.name = flags & O_CREAT ? "create" : "open", .offset = flags}; \
        mode_t mode = 0;                                                      \
        va_list more;                                                         \
        va_start(more, flags);                                                \
        if (flags & (O_CREAT | O_TMPFILE)) mode = va_arg(more, mode_t);       \
        va_end(more);                                                         \
        find(it.path, at, name);                                              \
        PERFORM(NEXT(symbol)(at, name, flags, mode));                         \
    }
OPEN(openat)
OPEN(openat64)

#define OPEN_PATH(symbol)                                                     \
    int symbol(const char *name, int flags, ...) {                            \
        mode_t mode = 0;                                                      \
        va_list more;                                                         \
        va_start(more, flags);                                                \
        if (flags & (O_CREAT | O_TMPFILE)) mode = va_arg(more, mode_t);       \
        va_end(more);                                                         \
        return openat(AT_FDCWD, name, flags, mode);                           \
    }
OPEN_PATH(open)
OPEN_PATH(open64)

int creat(const char *name, mode_t mode) {
    return openat(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int mkdirat(int at, const char *name, mode_t mode) {
    struct operation it = {.name = "mkdir"};
    find(it.path, at, name);
    PERFORM(NEXT(mkdirat)(at, name, mode));
}

int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

#define PWRITE(symbol)                                                              \
    ssize_t symbol(int descriptor, const void *bytes, size_t size, off_t offset) {  \
        struct operation it = {                                                     \
            .name = "write", .offset = offset, .length = size, .bytes = bytes};     \
        find(it.path, descriptor, NULL);                                            \
        PERFORM_WRITE(size, NEXT(symbol)(descriptor, bytes, limit, offset));        \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int descriptor, const void *bytes, size_t size) {
    struct operation it = {.name = "write", .offset = -1, .length = size, .bytes = bytes};
    if (folder_length) find(it.path, descriptor, NULL);
    if (is_ours(it.path)) it.offset = lseek(descriptor, 0, SEEK_CUR);
    PERFORM_WRITE(size, NEXT(write)(descriptor, bytes, limit));
}

#define PREAD(symbol)                                                               \
    ssize_t symbol(int descriptor, void *bytes, size_t size, off_t offset) {        \
        struct operation it = {.name = "read", .offset = offset, .length = size};   \
        find(it.path, descriptor, NULL);                                            \
        PERFORM(NEXT(symbol)(descriptor, bytes, size, offset));                     \
    }
PREAD(pread)
PREAD(pread64)

ssize_t read(int descriptor, void *bytes, size_t size) {
    struct operation it = {.name = "read", .offset = -1, .length = size};
    find(it.path, descriptor, NULL);
    PERFORM(NEXT(read)(descriptor, bytes, size));
}

static void sleep_long(struct operation *it) {
    struct timespec wait = {sync_ms / 1000, sync_ms % 1000 * 1000000};
    if (sync_ms && is_ours(it->path)) nanosleep(&wait, NULL);
}

int fdatasync(int descriptor) {
    struct operation it = {.name = "fdatasync"};
    find(it.path, descriptor, NULL);
    sleep_long(&it);
    PERFORM(NEXT(fdatasync)(descriptor));
}

int fsync(int descriptor) {
    struct operation it = {.name = "fsync"};
    find(it.path, descriptor, NULL);
    sleep_long(&it);
    PERFORM(NEXT(fsync)(descriptor));
}

int renameat2(int from, const char *old, int to, const char *name, unsigned flags) {
    struct operation it = {.name = "rename", .offset = flags};
    find(it.path, from, old);
    find(it.other, to, name);
    PERFORM(syscall(SYS_renameat2, from, old, to, name, flags));
}

int renameat(int from, const char *old, int to, const char *name) {
    return renameat2(from, old, to, name, 0);
}

int rename(const char *old, const char *name) {
    return renameat2(AT_FDCWD, old, AT_FDCWD, name, 0);
}

int linkat(int from, const char *old, int to, const char *name, int flags) {
    struct operation it = {.name = "link", .offset = flags};
    find(it.path, from, old[0] ? old : NULL);
    find(it.other, to, name);
    PERFORM(NEXT(linkat)(from, old, to, name, flags));
}

int unlinkat(int at, const char *name, int flags) {
    struct operation it = {.name = flags & AT_REMOVEDIR ? "rmdir" : "unlink", .offset = flags};
    find(it.path, at, name);
    PERFORM(NEXT(unlinkat)(at, name, flags));
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }

int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

#define TRUNCATE(symbol)                                                      \
    int symbol(int descriptor, off_t length) {                                \
        struct operation it = {.name = "truncate", .offset = length};         \
        find(it.path, descriptor, NULL);                                      \
        PERFORM(NEXT(symbol)(descriptor, length));                            \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define ALLOCATE(symbol)                                                            \
    int symbol(int descriptor, int mode, off_t offset, off_t length) {              \
        struct operation it = {.name = "allocate", .offset = offset, .length = length}; \
        find(it.path, descriptor, NULL);                                            \
        if (mode & FALLOC_FL_KEEP_SIZE) snprintf(it.other, sizeof it.other, "keep-size"); \
        PERFORM(NEXT(symbol)(descriptor, mode, offset, length));                    \
    }
ALLOCATE(fallocate)
ALLOCATE(fallocate64)

int flock(int descriptor, int what) {
    struct operation it = {.name = what & LOCK_UN ? "unlock" : "lock", .offset = what};
    find(it.path, descriptor, NULL);
    PERFORM(NEXT(flock)(descriptor, what));
}

#define ASK(what, symbol, type)                                               \
    int symbol(int descriptor, struct type *answer) {                         \
        struct operation it = {.name = what};                                 \
        find(it.path, descriptor, NULL);                                      \
        PERFORM(NEXT(symbol)(descriptor, answer));                            \
    }
ASK("stat", fstat, stat)
ASK("stat", fstat64, stat64)

#define FSTATAT(symbol, type)                                                       \
    int symbol(int at, const char *name, struct type *status, int flags) {          \
        struct operation it = {.name = "stat", .offset = flags};                    \
        find(it.path, at, name);                                                    \
        PERFORM(NEXT(symbol)(at, name, status, flags));                             \
    }
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)

int stat(const char *name, struct stat *status) { return fstatat(AT_FDCWD, name, status, 0); }

int lstat(const char *name, struct stat *status) {
    return fstatat(AT_FDCWD, name, status, AT_SYMLINK_NOFOLLOW);
}

int fchmod(int descriptor, mode_t mode) {
    struct operation it = {.name = "chmod", .offset = mode};
    find(it.path, descriptor, NULL);
    PERFORM(NEXT(fchmod)(descriptor, mode));
}

int fchmodat(int at, const char *name, mode_t mode, int flags) {
    struct operation it = {.name = "chmod", .offset = mode};
    find(it.path, at, name);
    PERFORM(NEXT(fchmodat)(at, name, mode, flags));
}

int chmod(const char *name, mode_t mode) { return fchmodat(AT_FDCWD, name, mode, 0); }

DIR *fdopendir(int descriptor) {
    struct operation it = {.name = "list"};
    int fault;
    DIR *stream = NULL;
    find(it.path, descriptor, NULL);
    fault = enter(&it, NULL);
    if (fault) errno = fault;
    else stream = NEXT(fdopendir)(descriptor);
    leave(&it, stream ? 0 : -1);
    return stream;
}

ASK("statfs", fstatfs, statfs)
ASK("statfs", fstatfs64, statfs64)
ASK("statfs", fstatvfs, statvfs)
ASK("statfs", fstatvfs64, statvfs64)
