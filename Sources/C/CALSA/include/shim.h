// SPDX-License-Identifier: Apache-2.0
// What Swift cannot import from alsa-lib. Everything else is called as it is; of the pairs
// "..._alloca" (a macro) and "..._malloc" Swift sees the second.
#ifndef UTTER_CALSA_H
#define UTTER_CALSA_H

// alsa-lib includes <poll.h>, and so does the Glibc module. Without this line both own `pollfd`, and
// which of the two a public signature means depends on the kind of build.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif

#include <alsa/asoundlib.h>
#include <errno.h>

// alsa-lib prints its errors on stderr, over whatever a terminal shows. Keeps it from doing so on
// the calling thread, and forgets what it has said there so far; a program that embeds us keeps its
// own handler on its own threads. Written in C, because a va_list and a variable of a thread are
// not for Swift.
void utter_alsa_listen(void);

// The first thing that alsa-lib has complained of on the calling thread since it was listened to,
// which is what the others follow from. Empty when it said nothing; valid until the next call of
// `utter_alsa_listen` on this thread.
const char *utter_alsa_complaint(void);

#endif
