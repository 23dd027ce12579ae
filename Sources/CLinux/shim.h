// SPDX-License-Identifier: Apache-2.0
// What the Glibc module leaves out: functions behind _GNU_SOURCE or in Linux-only headers,
// and variadic ones.
#ifndef UTTER_CLINUX_H
#define UTTER_CLINUX_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

// Declared here because defining _GNU_SOURCE would give the C library's own types a second
// definition beside the Glibc module's.
int pthread_setname_np(pthread_t thread, const char *_Nonnull name);
int memfd_create(const char *_Nonnull name, unsigned int flags);

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
    return memfd_create(name, 1U /* MFD_CLOEXEC */);
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
