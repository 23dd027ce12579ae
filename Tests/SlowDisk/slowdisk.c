// SPDX-License-Identifier: Apache-2.0

// A disk that takes its time: loaded with LD_PRELOAD it delays every fsync(2) and fdatasync(2) by
// UTTER_TEST_SYNC_MS milliseconds, and appends one line to the file UTTER_TEST_SYNC_LOG for each:
// the call, the name of its thread, and CLOCK_MONOTONIC in nanoseconds at its begin and its end.

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int slow(const char *name, int descriptor) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    const char *delay = getenv("UTTER_TEST_SYNC_MS");
    const char *log = getenv("UTTER_TEST_SYNC_LOG");
    long milliseconds = delay ? atol(delay) : 0;
    struct timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    char thread[17] = "";
    char line[128];
    long long began = now();
    int result = next(descriptor);

    nanosleep(&wait, NULL);
    prctl(PR_GET_NAME, thread);
    if (log != NULL) {
        int file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        int count = snprintf(line, sizeof line, "%s %s %lld %lld\n", name, thread, began, now());
        if (file >= 0) {
            if (write(file, line, count) != count) abort();
            close(file);
        }
    }
    return result;
}

int fsync(int descriptor) { return slow("fsync", descriptor); }

int fdatasync(int descriptor) { return slow("fdatasync", descriptor); }
