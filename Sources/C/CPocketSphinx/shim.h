// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CPOCKETSPHINX_H
#define UTTER_CPOCKETSPHINX_H
#include <malloc.h>
#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <sphinxbase/feat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { UTTER_PS_ERROR_SIZE = 512 };

// The log callback is variadic, which Swift cannot write. It keeps the first error in `line`, if
// any is wanted, without `ERROR: "file.c", line 12: ` and the line break.
static inline void utter_ps_report(void *line, err_lvl_t level, const char *format, ...) {
    char *text = line;
    if (level < ERR_ERROR || !text || *text) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, UTTER_PS_ERROR_SIZE, format, arguments);
    va_end(arguments);
    const char *place = strstr(text, "\", line ");
    const char *rest = place ? strchr(place, ':') : NULL;
    if (rest) memmove(text, rest + 2, strlen(rest + 2) + 1);
    text[strcspn(text, "\n")] = 0;
}

// Makes a decoder by the words of a command line, or says in `error` why there is none: some errors,
// such as a rule that is not defined, PocketSphinx only logs. Its log goes nowhere.
static inline ps_decoder_t *_Nullable utter_ps_init(
    int count, char *_Nullable words[_Nonnull], char error[_Nonnull UTTER_PS_ERROR_SIZE]) {
    err_set_logfp(NULL);
    err_set_callback(utter_ps_report, error);
    cmd_ln_t *configuration = cmd_ln_parse_r(NULL, ps_args(), count, words, 1);
    ps_decoder_t *decoder = configuration ? ps_init(configuration) : NULL;
    // The decoder keeps a reference of its own.
    cmd_ln_free_r(configuration);
    err_set_callback(utter_ps_report, NULL);
    if (!*error) return decoder;
    ps_free(decoder);
    return NULL;
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

// Reads samples where Swift's readLine() has stopped; returns how many there were.
static inline size_t utter_read_samples(int16_t *_Nonnull samples, size_t count) {
    return fread(samples, sizeof *samples, count, stdin);
}

// malloc_trim(3) is in no module of Swift's.
static inline void utter_give_memory_back(void) { (void)malloc_trim(0); }
#endif
