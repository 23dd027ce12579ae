// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CPOCKETSPHINX_H
#define UTTER_CPOCKETSPHINX_H
#include <malloc.h>
#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <sphinxbase/feat.h>
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

// The mean of the sound is subtracted from what is heard. Gives the mean that a decoder begins
// with the weight of so many frames.
static inline void utter_ps_weigh_mean(ps_decoder_t *_Nonnull decoder, int frame_count) {
    cmn_t *mean = ps_get_feat(decoder)->cmn_struct;
    for (int index = 0; index < mean->veclen; index++)
        mean->sum[index] = mean->cmn_mean[index] * (mfcc_t)frame_count;
    mean->nframe = frame_count;
}

// Makes the mean of all that was heard so far the one that is subtracted from now on.
static inline void utter_ps_update_mean(ps_decoder_t *_Nonnull decoder) {
    cmn_live_update(ps_get_feat(decoder)->cmn_struct);
}

// malloc_trim(3) is in no module of Swift's.
static inline void utter_give_memory_back(void) { (void)malloc_trim(0); }
#endif
