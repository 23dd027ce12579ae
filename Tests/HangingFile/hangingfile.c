// SPDX-License-Identifier: Apache-2.0

// A file that hangs: a program that opens it waits, in the kernel, until this one lets it go on.
//
//     hangingfile PATH
//
// Says "watching" when the file is watched, and "blocked" when the first open waits; lets all opens
// go on at the end of its input. Needs CAP_SYS_ADMIN (fanotify(7)).

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/fanotify.h>
#include <unistd.h>

int main(int count, char **arguments) {
    struct fanotify_event_metadata events[64];
    int watch = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
    if (count != 2 || watch < 0
        || fanotify_mark(watch, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, arguments[1]) != 0) {
        perror("hangingfile");
        return 1;
    }
    puts("watching");
    fflush(stdout);
    // Permission is never given; it is no longer asked for when this program has ended.
    struct pollfd descriptors[2] = {{0, POLLIN, 0}, {watch, POLLIN, 0}};
    while (poll(descriptors, 2, -1) >= 0) {
        if (descriptors[1].revents && read(watch, events, sizeof events) > 0) {
            puts("blocked");
            fflush(stdout);
        }
        if (descriptors[0].revents) return 0;
    }
    return 1;
}
