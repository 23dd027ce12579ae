// SPDX-License-Identifier: Apache-2.0
#define LATE_LIBRARY "libogg.so.0"
#include "late.h"
#include <ogg/ogg.h>

#pragma GCC visibility push(hidden)
LATE(int, ogg_page_bos, (const ogg_page *a), (a))
LATE(int, ogg_page_eos, (const ogg_page *a), (a))
LATE(ogg_int64_t, ogg_page_granulepos, (const ogg_page *a), (a))
LATE(long int, ogg_page_pageno, (const ogg_page *a), (a))
LATE(int, ogg_page_packets, (const ogg_page *a), (a))
LATE(int, ogg_page_serialno, (const ogg_page *a), (a))
LATE(int, ogg_stream_clear, (ogg_stream_state *a), (a))
LATE(int, ogg_stream_flush, (ogg_stream_state *a, ogg_page *b), (a, b))
LATE(int, ogg_stream_init, (ogg_stream_state *a, int b), (a, b))
LATE(int, ogg_stream_packetin, (ogg_stream_state *a, ogg_packet *b), (a, b))
LATE(int, ogg_stream_packetout, (ogg_stream_state *a, ogg_packet *b), (a, b))
LATE(int, ogg_stream_pagein, (ogg_stream_state *a, ogg_page *b), (a, b))
LATE(int, ogg_stream_reset_serialno, (ogg_stream_state *a, int b), (a, b))
LATE(char *, ogg_sync_buffer, (ogg_sync_state *a, long int b), (a, b))
LATE(int, ogg_sync_clear, (ogg_sync_state *a), (a))
LATE(int, ogg_sync_init, (ogg_sync_state *a), (a))
LATE(long int, ogg_sync_pageseek, (ogg_sync_state *a, ogg_page *b), (a, b))
LATE(int, ogg_sync_wrote, (ogg_sync_state *a, long int b), (a, b))
#pragma GCC visibility pop
