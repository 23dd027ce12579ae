// SPDX-License-Identifier: Apache-2.0

// Plays the kernel's side of keyboards for one program, loaded with LD_PRELOAD. Everything else is
// real: the program, libevdev, the folder that is watched, and the pipes by which events come.
//
//   UTTER_TEST_INPUT   a folder that is /dev/input for the program
//
// In it "eventN" is a named pipe of `struct input_event`s, "about/eventN.keys" the keys that the
// keyboard has and "about/eventN.down" those that are down, each a bitmap as the kernel's. A pipe
// without a right to be read refuses as the kernel does, root too; one that no process writes to any
// more is a keyboard that was pulled out. "about/log" gets a line for each ioctl(2) that a program
// must not make: a grab.

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { path_size = 512, most = 1024 };

// The name of the keyboard behind each descriptor.
static char names[most][32];

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

// The path that is meant: NULL when it is none of ours.
static const char *mapped(const char *path, char *buffer) {
    const char *folder = getenv("UTTER_TEST_INPUT");
    const char *root = "/dev/input";
    size_t length = strlen(root);
    if (!folder || strncmp(path, root, length) || (path[length] && path[length] != '/'))
        return NULL;
    snprintf(buffer, path_size, "%s%s", folder, path + length);
    return buffer;
}

static int about(const char *name, const char *what, int flags) {
    char path[path_size];
    int (*open_real)(const char *, int, ...) = real("open");
    snprintf(path, sizeof path, "%s/about/%s%s", getenv("UTTER_TEST_INPUT"), name, what);
    return open_real(path, flags | O_CLOEXEC, 0600);
}

static int open_keyboard(const char *path, int flags) {
    int (*open_real)(const char *, int, ...) = real("open");
    struct stat status;
    const char *name = strrchr(path, '/') + 1;
    if (strncmp(name, "event", 5)) return open_real(path, flags);
    if (stat(path, &status) == 0 && !(status.st_mode & S_IRUSR)) {
        errno = EACCES;
        return -1;
    }
    int descriptor = open_real(path, flags);
    if (descriptor >= 0 && descriptor < most)
        snprintf(names[descriptor], sizeof names[descriptor], "%s", name);
    return descriptor;
}

int open(const char *path, int flags, ...) {
    char buffer[path_size];
    va_list list;
    va_start(list, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;
    va_end(list);
    const char *meant = mapped(path, buffer);
    if (meant) return open_keyboard(meant, flags);
    int (*open_real)(const char *, int, ...) = real("open");
    return open_real(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

DIR *opendir(const char *path) {
    char buffer[path_size];
    const char *meant = mapped(path, buffer);
    DIR *(*opendir_real)(const char *) = real("opendir");
    return opendir_real(meant ? meant : path);
}

int inotify_add_watch(int descriptor, const char *path, uint32_t mask) {
    char buffer[path_size];
    const char *meant = mapped(path, buffer);
    int (*watch_real)(int, const char *, uint32_t) = real("inotify_add_watch");
    return watch_real(descriptor, meant ? meant : path, mask);
}

static const char *keyboard(int descriptor) {
    if (descriptor < 0 || descriptor >= most || !names[descriptor][0]) return NULL;
    return names[descriptor];
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    ssize_t (*read_real)(int, void *, size_t) = real("read");
    ssize_t got = read_real(descriptor, bytes, count);
    if (got == 0 && count > 0 && keyboard(descriptor)) {
        errno = ENODEV;
        return -1;
    }
    return got;
}

int close(int descriptor) {
    int (*close_real)(int) = real("close");
    if (keyboard(descriptor)) names[descriptor][0] = 0;
    return close_real(descriptor);
}

// Fills what is asked for with the bits of a file.
static int answer_bits(const char *name, const char *what, void *value, size_t size) {
    ssize_t (*read_real)(int, void *, size_t) = real("read");
    int (*close_real)(int) = real("close");
    memset(value, 0, size);
    int file = about(name, what, O_RDONLY);
    if (file < 0) return (int)size;
    if (read_real(file, value, size) < 0) memset(value, 0, size);
    close_real(file);
    return (int)size;
}

static int answer(const char *name, unsigned long request, void *value) {
    size_t size = _IOC_SIZE(request);
    switch (_IOC_NR(request)) {
        case _IOC_NR(EVIOCGVERSION): *(int *)value = EV_VERSION; return 0;
        case _IOC_NR(EVIOCGNAME(0)): return snprintf(value, size, "Virtual keyboard %s", name) + 1;
        case _IOC_NR(EVIOCGPHYS(0)):
        case _IOC_NR(EVIOCGUNIQ(0)): errno = ENOENT; return -1;
        case 0x20:
            memset(value, 0, size);
            *(unsigned char *)value = 1 << EV_SYN | 1 << EV_KEY;
            return (int)size;
        case 0x20 + EV_KEY: return answer_bits(name, ".keys", value, size);
        case _IOC_NR(EVIOCGKEY(0)): return answer_bits(name, ".down", value, size);
        case _IOC_NR(EVIOCGRAB): {
            int log = about("log", "", O_WRONLY | O_CREAT | O_APPEND);
            dprintf(log, "grab %s\n", name);
            return 0;
        }
        default:
            if (_IOC_DIR(request) == _IOC_READ) memset(value, 0, size);
            return 0;
    }
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *value = va_arg(list, void *);
    va_end(list);
    const char *name = keyboard(descriptor);
    if (name && _IOC_TYPE(request) == 'E') return answer(name, request, value);
    int (*ioctl_real)(int, unsigned long, ...) = real("ioctl");
    return ioctl_real(descriptor, request, value);
}
