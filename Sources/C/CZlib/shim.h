// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CZLIB_H
#define UTTER_CZLIB_H
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

// Decompresses gzip or zlib into *output_count bytes of room, and says how many came and whether that
// was all. False when the input is no such stream.
static inline bool utter_inflate(
    const unsigned char *input, size_t input_count, unsigned char *output, size_t *output_count,
    bool *is_whole)
{
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    // 32: gzip or zlib, by what the stream begins with.
    if (inflateInit2(&stream, 15 + 32) != Z_OK) return false;
    stream.next_in = (unsigned char *)input;
    stream.avail_in = (unsigned int)input_count;
    stream.next_out = output;
    stream.avail_out = (unsigned int)*output_count;
    int result = inflate(&stream, Z_FINISH);
    *output_count -= stream.avail_out;
    *is_whole = result == Z_STREAM_END;
    inflateEnd(&stream);
    return result == Z_STREAM_END || result == Z_OK || result == Z_BUF_ERROR;
}
#endif
