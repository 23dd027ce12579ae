// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_COPUS_H
#define UTTER_COPUS_H
#include <ogg/ogg.h>
#include <opus/opus.h>

// opus_encoder_ctl is variadic.
static inline int utter_opus_encoder_set(
    OpusEncoder *_Nonnull encoder, int request, opus_int32 value) {
    return opus_encoder_ctl(encoder, request, value);
}

// opus_encoder_ctl is variadic.
static inline int utter_opus_encoder_get(
    OpusEncoder *_Nonnull encoder, int request, opus_int32 *_Nonnull value) {
    return opus_encoder_ctl(encoder, request, value);
}
#endif
