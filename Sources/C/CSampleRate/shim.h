// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CSAMPLERATE_H
#define UTTER_CSAMPLERATE_H
#include <samplerate.h>
#endif
