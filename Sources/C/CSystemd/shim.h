// SPDX-License-Identifier: Apache-2.0
// sd-bus(3). What is variadic there has a sibling for one value, which Swift can call.
#ifndef UTTER_CSYSTEMD_H
#define UTTER_CSYSTEMD_H

// See CALSA: both modules would own the types of these headers otherwise.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif

#include <systemd/sd-bus.h>

#endif
