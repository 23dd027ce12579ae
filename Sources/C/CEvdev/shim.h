// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CEVDEV_H
#define UTTER_CEVDEV_H

// See CALSA: both modules would own `timeval` otherwise.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif

#include <libevdev/libevdev-uinput.h>
#include <libevdev/libevdev.h>

#endif
