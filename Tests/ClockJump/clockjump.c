// SPDX-License-Identifier: Apache-2.0
//
// Loaded into a program, it moves the wall clock by the number of seconds that the file in
// UTTER_TEST_CLOCK holds (a native 64-bit integer, mapped, so that the test can jump at any moment).
// Monotonic clocks go on as they do when the time is set, unless the file has a second integer: then
// they stand still at so many nanoseconds, and the wall clock with them; random numbers depend on the
// latter alone. The kernel's waits still go by its own clock and end too early, again and again; a
// pause before each spares the processor.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { OFFSET, STANDSTILL, WORDS };

// A shorter file reads as zeros behind its end.
static int64_t word(int index) {
    static volatile int64_t *shared;
    if (!shared) {
        const char *path = getenv("UTTER_TEST_CLOCK");
        int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (file < 0) return 0;
        void *mapped = mmap(NULL, WORDS * sizeof *shared, PROT_READ, MAP_SHARED, file, 0);
        close(file);
        if (mapped == MAP_FAILED) return 0;
        shared = mapped;
    }
    return shared[index];
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result != 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
        return result;
    int64_t standstill = word(STANDSTILL);
    if (standstill) *time = (struct timespec){standstill / 1000000000, standstill % 1000000000};
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec += word(OFFSET);
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

static void pause_if_still(void) {
    if (word(STANDSTILL)) usleep(1000);
}

int poll(struct pollfd *descriptors, nfds_t count, int milliseconds) {
    static int (*real)(struct pollfd *, nfds_t, int);
    if (!real) real = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
    pause_if_still();
    return real(descriptors, count, milliseconds);
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
    static int (*real)(sem_t *, clockid_t, const struct timespec *);
    if (!real)
        real = (int (*)(sem_t *, clockid_t, const struct timespec *))dlsym(RTLD_NEXT, "sem_clockwait");
    pause_if_still();
    return real(semaphore, clock, until);
}

// Numbers that follow each other in one thread and at one time differ.
static void fill(unsigned char *bytes, size_t count) {
    static __thread int64_t time, number;
    int64_t now = word(OFFSET) * 1000000000 + word(STANDSTILL);
    if (time != now) number = 0;
    time = now;
    for (size_t k = 0; k < count; k++) {
        uint64_t mixed = (uint64_t)(time + ++number) * 0x9E3779B97F4A7C15u;
        bytes[k] = (unsigned char)((mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u >> 56);
    }
}

// The standard library of Swift asks the kernel for random numbers by this.
long syscall(long number, ...) {
    static long (*real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long given[6];
    va_list rest;
    va_start(rest, number);
    for (int k = 0; k < 6; k++) given[k] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_getrandom && word(STANDSTILL)) {
        fill((unsigned char *)given[0], (size_t)given[1]);
        return given[1];
    }
    return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
