// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CPOCKETSPHINX_H
#define UTTER_CPOCKETSPHINX_H
#include <pocketsphinx.h>
#endif
