// SPDX-License-Identifier: Apache-2.0
// What the Glibc module leaves out: functions behind _GNU_SOURCE or in Linux-only headers,
// and variadic ones.
#ifndef UTTER_CLINUX_H
#define UTTER_CLINUX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// pthread_setname_np(3) needs _GNU_SOURCE.
static inline int utter_thread_set_name(const char *_Nonnull name) {
    return pthread_setname_np(pthread_self(), name);
}

// openat(2) is variadic.
static inline int utter_openat(int folder, const char *_Nonnull path, int flags, mode_t mode) {
    return openat(folder, path, flags, mode);
}

// memfd_create(2) needs _GNU_SOURCE.
static inline int utter_memfd_create(const char *_Nonnull name) {
    return memfd_create(name, MFD_CLOEXEC);
}

// EFD_NONBLOCK | EFD_CLOEXEC are an enum in C.
static inline int utter_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

// signalfd(2) is not in the Glibc module; neither are its flags.
static inline int utter_signalfd(const sigset_t *_Nonnull mask) {
    return signalfd(-1, mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

// ioctl(2) is variadic.
static inline int utter_terminal_columns(int descriptor) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

#endif
