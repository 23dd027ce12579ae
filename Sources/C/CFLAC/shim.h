// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CFLAC_H
#define UTTER_CFLAC_H
#include <FLAC/stream_decoder.h>
#include <FLAC/stream_encoder.h>
#endif
