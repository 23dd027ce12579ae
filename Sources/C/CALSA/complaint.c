// SPDX-License-Identifier: Apache-2.0
// What alsa-lib says of its errors, instead of its printing them; see shim.h.
#include "shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char complaint[256];

static void hear(const char *file, int line, const char *function, int code, const char *format,
                 va_list arguments) {
    (void)file;
    (void)line;
    (void)function;
    if (complaint[0]) return;
    vsnprintf(complaint, sizeof complaint, format, arguments);
    size_t length = strlen(complaint);
    // As alsa-lib itself prints it.
    if (code) snprintf(complaint + length, sizeof complaint - length, ": %s", snd_strerror(code));
    complaint[strcspn(complaint, "\n")] = 0;
}

void utter_alsa_listen(void) {
    complaint[0] = 0;
    snd_lib_error_set_local(hear);
}

const char *utter_alsa_complaint(void) { return complaint; }
