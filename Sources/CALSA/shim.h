// SPDX-License-Identifier: Apache-2.0
// What Swift cannot import from alsa-lib. Everything else is called as it is; of the pairs
// "..._alloca" (a macro) and "..._malloc" Swift sees the second.
#ifndef UTTER_CALSA_H
#define UTTER_CALSA_H

// alsa-lib includes <poll.h>, which the Glibc module has, too. Of two definitions of pollfd Swift
// takes the one that it meets first, so that a file compiles or not by its neighbours in a batch.
// Here it stays a name: the definition is Glibc's alone.
#define _SYS_POLL_H 1
struct pollfd;

#include <alsa/asoundlib.h>
#undef _SYS_POLL_H

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
