// SPDX-License-Identifier: Apache-2.0
// What the Glibc module leaves out: functions behind _GNU_SOURCE or in Linux-only headers,
// and variadic ones.
#ifndef UTTER_CLINUX_H
#define UTTER_CLINUX_H

#include <linux/aio_abi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// Declared here because defining _GNU_SOURCE would give the C library's own types a second
// definition beside the Glibc module's. So would <fcntl.h> with `struct stat`.
int openat(int folder, const char *_Nonnull path, int flags, ...);
int pthread_setname_np(pthread_t thread, const char *_Nonnull name);
int prctl(int option, ...);
ssize_t preadv2(
    int descriptor, const struct iovec *_Nonnull parts, int count, off_t offset, int flags);
int fallocate(int descriptor, int mode, off_t offset, off_t length);
int renameat2(
    int folder, const char *_Nonnull name, int new_folder, const char *_Nonnull new_name,
    unsigned flags);

// pthread_setname_np(3) needs _GNU_SOURCE.
static inline int utter_thread_set_name(const char *_Nonnull name) {
    return pthread_setname_np(pthread_self(), name);
}

// The C library has no functions for these calls (io_submit(2)).
static inline int utter_io_setup(unsigned count, aio_context_t *_Nonnull context) {
    return (int)syscall(SYS_io_setup, count, context);
}

static inline int utter_io_destroy(aio_context_t context) {
    return (int)syscall(SYS_io_destroy, context);
}

static inline long utter_io_submit(
    aio_context_t context, long count, struct iocb *_Nullable *_Nonnull requests) {
    return syscall(SYS_io_submit, context, count, requests);
}

static inline long utter_io_getevents(
    aio_context_t context, long least, long most, struct io_event *_Nonnull events) {
    return syscall(SYS_io_getevents, context, least, most, events, 0);
}

// Reads what the system has of a file in memory, and never waits for its disk: EAGAIN for what it
// does not have, EOPNOTSUPP where a file system cannot say. preadv2(2) and RWF_NOWAIT, which is 8,
// need _GNU_SOURCE.
static inline ssize_t utter_read_present(
    int descriptor, void *_Nonnull bytes, size_t count, off_t offset) {
    struct iovec part = {bytes, count};
    return preadv2(descriptor, &part, 1, offset, 8);
}

// openat(2) is variadic.
static inline int utter_openat(int folder, const char *_Nonnull path, int flags, mode_t mode) {
    return openat(folder, path, flags, mode);
}

// fallocate(2) needs _GNU_SOURCE, as does FALLOC_FL_KEEP_SIZE.
static inline int utter_fallocate_beyond_end(int descriptor, off_t offset, off_t length) {
    return fallocate(descriptor, 1, offset, length);
}

// RENAME_NOREPLACE is in a Linux-only header.
static inline int utter_rename_new(
    int folder, const char *_Nonnull name, const char *_Nonnull new_name) {
    return renameat2(folder, name, folder, new_name, 1);
}

// memfd_create(2) needs _GNU_SOURCE; 1 is MFD_CLOEXEC.
int memfd_create(const char *_Nonnull name, unsigned flags);
static inline int utter_memory_file(const char *_Nonnull name) { return memfd_create(name, 1); }

// EFD_NONBLOCK | EFD_CLOEXEC are an enum in C.
static inline int utter_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

// sem_clockwait(3) needs _GNU_SOURCE. A negative time is for ever.
int sem_clockwait(
    sem_t *_Nonnull semaphore, clockid_t clock, const struct timespec *_Nonnull until);
static inline int utter_sleep(sem_t *_Nonnull semaphore, long nanoseconds) {
    if (nanoseconds < 0) return sem_wait(semaphore);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    nanoseconds += until.tv_nsec;
    until.tv_sec += nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &until);
}

// What epoll(7) finds is a union in C.
static inline int utter_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline int utter_epoll_set(int epoll, int operation, int descriptor, unsigned events) {
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    return epoll_ctl(epoll, operation, descriptor, &event);
}
// At most 128; each is its events above its descriptor.
static inline int utter_epoll_wait(int epoll, unsigned long *_Nonnull found, int milliseconds) {
    struct epoll_event events[128];
    int count = epoll_wait(epoll, events, 128, milliseconds);
    for (int i = 0; i < count; i++)
        found[i] = (unsigned long)events[i].events << 32 | (unsigned)events[i].data.fd;
    return count;
}

// pipe2(2), accept4(2) and dup3(2) need _GNU_SOURCE; EFD_CLOEXEC is O_CLOEXEC.
int pipe2(int *_Nonnull ends, int flags);
int accept4(int socket, void *_Nullable address, unsigned *_Nullable length, int flags);
int dup3(int from, int to, int flags);
static inline int utter_pipe(int *_Nonnull ends) { return pipe2(ends, EFD_CLOEXEC); }
static inline int utter_accept(int socket) { return accept4(socket, 0, 0, EFD_CLOEXEC); }
static inline int utter_replace(int descriptor, int with) {
    return dup3(with, descriptor, EFD_CLOEXEC);
}

// signalfd(2) is not in the Glibc module; neither are its flags.
static inline int utter_signalfd(const sigset_t *_Nonnull mask) {
    return signalfd(-1, mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

// pidfd_open(2) is not in the Glibc module.
static inline int utter_pidfd_open(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

// posix_spawn_file_actions_addtcsetpgrp_np(3) needs _GNU_SOURCE.
int posix_spawn_file_actions_addtcsetpgrp_np(posix_spawn_file_actions_t *_Nonnull, int);
static inline int utter_spawn_in_foreground(
    posix_spawn_file_actions_t *_Nonnull actions, int terminal) {
    return posix_spawn_file_actions_addtcsetpgrp_np(actions, terminal);
}

// posix_spawn_file_actions_addclosefrom_np(3) needs _GNU_SOURCE.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *_Nonnull, int);
static inline int utter_spawn_with_standard_descriptors_only(
    posix_spawn_file_actions_t *_Nonnull actions) {
    return posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

// prctl(2) is variadic; 4 is PR_SET_DUMPABLE.
static inline int utter_forbid_dumps(void) { return prctl(4, 0, 0, 0, 0); }

// ioctl(2) is variadic.
static inline int utter_terminal_columns(int descriptor) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

// What the other side of a local socket has not read yet, in bytes and overhead (unix(7)).
static inline int utter_unread(int socket) {
    int count = 0;
    return ioctl(socket, TIOCOUTQ, &count) == 0 ? count : 0;
}

static inline int utter_terminal_rows(int descriptor) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_row;
}

#endif
