// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CPOCKETSPHINX_H
#define UTTER_CPOCKETSPHINX_H
#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <stdarg.h>
#include <stdio.h>

// Receives one error line of PocketSphinx, on the thread that met the error.
typedef void (*utter_ps_error_sink)(const char *_Nonnull line);

// The log callback is variadic, which Swift cannot write. It passes on errors only.
static inline void utter_ps_report(void *sink, err_lvl_t level, const char *format, ...) {
    if (level < ERR_ERROR) return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    ((utter_ps_error_sink)sink)(line);
}

// Sends the errors of the whole process to `sink`, and everything else nowhere.
static inline void utter_ps_set_error_sink(utter_ps_error_sink _Nonnull sink) {
    err_set_logfp(NULL);
    err_set_callback(utter_ps_report, (void *)sink);
}
#endif
