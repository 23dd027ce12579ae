// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_COPUS_H
#define UTTER_COPUS_H
#include <ogg/ogg.h>
#include <opus.h>
#endif
