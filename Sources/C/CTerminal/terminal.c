// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
    int descriptor;
    struct termios before;
    char codes[64];
    size_t count;
    char marker[256];
} remembered;

static atomic_int is_remembered;

void utter_terminal_remember(
    int descriptor, const struct termios *before, const char *codes, const char *marker) {
    // No handler may see half of it.
    atomic_store(&is_remembered, 0);
    remembered.descriptor = descriptor;
    remembered.before = *before;
    remembered.count = strnlen(codes, sizeof remembered.codes);
    memcpy(remembered.codes, codes, remembered.count);
    // Half a path would be another file's.
    size_t length = strnlen(marker, sizeof remembered.marker);
    if (length == sizeof remembered.marker) length = 0;
    memcpy(remembered.marker, marker, length);
    remembered.marker[length] = 0;
    atomic_store(&is_remembered, 1);
}

int utter_terminal_restore(void) {
    if (!atomic_exchange(&is_remembered, 0)) return 0;
    int error = errno;
    sigset_t stop, mask;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    // Writing to the terminal from the background would stop this process.
    pthread_sigmask(SIG_BLOCK, &stop, &mask);
    // A terminal that takes nothing cannot be helped.
    ssize_t written = write(remembered.descriptor, remembered.codes, remembered.count);
    (void)written;
    if (tcgetpgrp(remembered.descriptor) == getpgrp()) {
        tcsetattr(remembered.descriptor, TCSANOW, &remembered.before);
        // Keys that were sent as codes are no words for the shell.
        tcflush(remembered.descriptor, TCIFLUSH);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (remembered.marker[0]) unlink(remembered.marker);
    errno = error;
    return 1;
}

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
enum { fault_count = sizeof faults / sizeof *faults };
static struct sigaction former[fault_count];

static void on_fault(int number) {
    utter_terminal_restore();
    // What a backtracer or the system does with it comes now: as soon as this returns.
    for (int index = 0; index < fault_count; index++) {
        if (faults[index] == number) sigaction(number, &former[index], NULL);
    }
    raise(number);
}

static void on_exit_call(void) { utter_terminal_restore(); }

void utter_terminal_watch_ends(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    // A stack that has overflowed has no room for a handler, where there is another one.
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int index = 0; index < fault_count; index++) {
        sigaction(faults[index], &action, &former[index]);
    }
    atexit(on_exit_call);
}

unsigned utter_terminal_device(int descriptor) {
    unsigned device = 0;
    return ioctl(descriptor, TIOCGDEV, &device) == 0 ? device : 0;
}
