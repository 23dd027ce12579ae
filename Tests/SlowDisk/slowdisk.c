// SPDX-License-Identifier: Apache-2.0

// A disk that takes its time: loaded with LD_PRELOAD it delays every fsync(2) and fdatasync(2) by
// UTTER_TEST_SYNC_MS milliseconds, and appends one line to the file UTTER_TEST_SYNC_LOG for each,
// and for each fallocate(2): the call, the name of its thread, CLOCK_MONOTONIC in nanoseconds at
// its begin and its end, and the path of the file.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int has_fault(const char *fault);

static void read_path(int descriptor, char *path, size_t size) {
    char link[64];

    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, size - 1);
    path[count < 0 ? 0 : count] = 0;
}

static void note(const char *name, long long began, int descriptor) {
    const char *log = getenv("UTTER_TEST_SYNC_LOG");
    char thread[17] = "";
    char path[4096], line[4224];
    if (log == NULL) return;
    prctl(PR_GET_NAME, thread);
    read_path(descriptor, path, sizeof path);
    int file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    int count = snprintf(
        line, sizeof line, "%s %s %lld %lld %s\n", name, thread, began, now(), path);
    if (file < 0) return;
    if (write(file, line, count) != count) abort();
    close(file);
}

// While the folder UTTER_TEST_DISK holds a file "held", syncs of new manifests wait; each is noted
// when it begins to.
static void hold(int descriptor) {
    struct timespec wait = {0, 1000000};
    char path[4096];
    read_path(descriptor, path, sizeof path);
    const char *name = strrchr(path, '/');
    if (name == NULL || strcmp(name, "/take.json.new") != 0 || !has_fault("held")) return;
    note("held", now(), descriptor);
    while (has_fault("held")) nanosleep(&wait, NULL);
}

static int slow(const char *name, int descriptor) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    const char *delay = getenv("UTTER_TEST_SYNC_MS");
    long milliseconds = delay ? atol(delay) : 0;
    struct timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    long long began = now();
    hold(descriptor);
    int result = next(descriptor);

    nanosleep(&wait, NULL);
    note(name, began, descriptor);
    if (!has_fault("broken")) return result;
    errno = EIO;
    return -1;
}

int fsync(int descriptor) { return slow("fsync", descriptor); }

int fdatasync(int descriptor) { return slow("fdatasync", descriptor); }

// A disk that fails: while the folder UTTER_TEST_DISK holds a file "full", nothing is written to
// files of takes (ENOSPC); "nearlyFull", no room is promised (ENOSPC); "broken", no sync succeeds
// (EIO).

static int has_fault(const char *fault) {
    const char *folder = getenv("UTTER_TEST_DISK");
    char path[4096];
    if (folder == NULL) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, fault);
    return access(path, F_OK) == 0;
}

static int refuses(int descriptor, const char *fault) {
    char path[4096];
    if (!has_fault(fault)) return 0;
    read_path(descriptor, path, sizeof path);
    if (strstr(path, "/takes/") == NULL) return 0;
    errno = ENOSPC;
    return 1;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    ssize_t (*next)(int, const void *, size_t, off_t) =
        (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    return refuses(descriptor, "full") ? -1 : next(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}

// A disk that hangs: while the folder UTTER_TEST_DISK holds a file "late", a file "late.wav" is not in
// memory, and no read of it ends behind its first 64 KiB; each is noted when it begins to wait.

static int is_late(int descriptor, off_t offset) {
    char path[4096];
    if (offset < 1 << 16 || !has_fault("late")) return 0;
    read_path(descriptor, path, sizeof path);
    const char *name = strrchr(path, '/');
    return name != NULL && strcmp(name, "/late.wav") == 0;
}

ssize_t preadv2(
    int descriptor, const struct iovec *parts, int count, off_t offset, int flags) {
    ssize_t (*next)(int, const struct iovec *, int, off_t, int) =
        (ssize_t(*)(int, const struct iovec *, int, off_t, int))dlsym(RTLD_NEXT, "preadv2");
    if (!is_late(descriptor, offset)) return next(descriptor, parts, count, offset, flags);
    errno = EAGAIN;
    return -1;
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    ssize_t (*next)(int, void *, size_t, off_t) =
        (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    struct timespec wait = {0, 1000000};
    if (is_late(descriptor, offset)) note("late", now(), descriptor);
    while (is_late(descriptor, offset)) nanosleep(&wait, NULL);
    return next(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off_t offset) {
    return pread(descriptor, bytes, count, offset);
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    int (*next)(int, int, off_t, off_t) =
        (int (*)(int, int, off_t, off_t))dlsym(RTLD_NEXT, "fallocate");
    note("fallocate", now(), descriptor);
    return refuses(descriptor, "nearlyFull") ? -1 : next(descriptor, mode, offset, length);
}

int fallocate64(int descriptor, int mode, off_t offset, off_t length) {
    return fallocate(descriptor, mode, offset, length);
}
