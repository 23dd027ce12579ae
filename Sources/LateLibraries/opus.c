// SPDX-License-Identifier: Apache-2.0
#define LATE_LIBRARY "libopus.so.0"
#include "late.h"
#include <opus/opus.h>
#include <stdarg.h>

#pragma GCC visibility push(hidden)
LATE(int, opus_decode,
     (OpusDecoder *a, const unsigned char *b, opus_int32 c, opus_int16 *d, int e, int f),
     (a, b, c, d, e, f))
LATE(OpusDecoder *, opus_decoder_create, (opus_int32 a, int b, int *c), (a, b, c))
LATE(void, opus_decoder_destroy, (OpusDecoder *a), (a))
LATE(opus_int32, opus_encode,
     (OpusEncoder *a, const opus_int16 *b, int c, unsigned char *d, opus_int32 e), (a, b, c, d, e))
LATE(OpusEncoder *, opus_encoder_create, (opus_int32 a, int b, int c, int *d), (a, b, c, d))
LATE(void, opus_encoder_destroy, (OpusEncoder *a), (a))
LATE(const char *, opus_get_version_string, (void), ())
LATE(const char *, opus_strerror, (int a), (a))

// Requests to read are odd and take a pointer, those to set are even and take a number
// (opus_defines.h, "Generic CTLs").
int opus_encoder_ctl(OpusEncoder *a, int b, ...) {
    int (*call)(OpusEncoder *, int, ...) =
        (int (*)(OpusEncoder *, int, ...))utter_late_function(LATE_LIBRARY, "opus_encoder_ctl");
    va_list values;
    va_start(values, b);
    int code = b & 1 ? call(a, b, va_arg(values, void *)) : call(a, b, va_arg(values, opus_int32));
    va_end(values);
    return code;
}
#pragma GCC visibility pop
