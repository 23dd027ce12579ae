// SPDX-License-Identifier: Apache-2.0
// What Swift cannot import from alsa-lib. Everything else is called as it is; of the pairs
// "..._alloca" (a macro) and "..._malloc" Swift sees the second.
#ifndef UTTER_CALSA_H
#define UTTER_CALSA_H

// alsa-lib includes <poll.h>, and so does the Glibc module. Without this line both own `pollfd`, and
// which of the two a public signature means depends on the kind of build.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif

#include <alsa/asoundlib.h>
#include <errno.h>
#include <stdarg.h>

// An error handler that says nothing; its va_list keeps it out of Swift.
static void utter_alsa_ignore(const char *file, int line, const char *function, int code,
                              const char *format, va_list arguments) {
    (void)file;
    (void)line;
    (void)function;
    (void)code;
    (void)format;
    (void)arguments;
}

// alsa-lib prints its errors on stderr, over whatever a terminal shows. Keeps it from doing so on
// the calling thread; a program that embeds us keeps its own handler on its own threads.
static inline void utter_alsa_silence_thread(void) {
    snd_lib_error_set_local(utter_alsa_ignore);
}

#endif
