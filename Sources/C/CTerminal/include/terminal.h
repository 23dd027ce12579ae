// SPDX-License-Identifier: Apache-2.0
// Puts the terminal right that this process has changed, on every way out that code of ours is
// asked on. Written in C, because a signal handler may neither allocate nor call a runtime.
#ifndef UTTER_CTERMINAL_H
#define UTTER_CTERMINAL_H

// See CALSA: both modules would own the types of these headers otherwise.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif

#include <termios.h>

// Remembers how a terminal was, the escape codes that take ours back (at most 63 bytes), and the
// path of the file that says so (at most 255 bytes; empty for none). From now on `utter_terminal_restore` has something to do. A descriptor that is remembered
// stays open, and does not block. Called by one thread.
void utter_terminal_remember(
    int descriptor, const struct termios *_Nonnull before, const char *_Nonnull codes,
    const char *_Nonnull marker);

// Puts the remembered terminal right and removes its file, once; does nothing when there is none. What was typed and not
// read is dropped. From any thread, and from signal handlers (signal-safety(7)).
//
// Never waits for the terminal. From the background only the codes are taken back: its modes
// are another program's then.
//
// Returns whether there was something to do.
int utter_terminal_restore(void);

// From now on faults of this process (SIGSEGV, SIGABRT and the like) and exit(3) put the remembered
// terminal right before they do what they did. Called once.
void utter_terminal_watch_ends(void);

// The device of the terminal behind a descriptor, also of /dev/tty; 0 when it is none.
unsigned utter_terminal_device(int descriptor);

#endif
