// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CNATS_H
#define UTTER_CNATS_H

// See CALSA: both modules would own `timeval` otherwise.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif

#include <nats/nats.h>

#endif
