// SPDX-License-Identifier: Apache-2.0
#define LATE_LIBRARY "libsamplerate.so.0"
#include "late.h"
#include <samplerate.h>

#pragma GCC visibility push(hidden)
LATE(SRC_STATE *, src_delete, (SRC_STATE *a), (a))
LATE(SRC_STATE *, src_new, (int a, int b, int *c), (a, b, c))
LATE(int, src_process, (SRC_STATE *a, SRC_DATA *b), (a, b))
LATE(int, src_reset, (SRC_STATE *a), (a))
LATE(const char *, src_strerror, (int a), (a))
#pragma GCC visibility pop
