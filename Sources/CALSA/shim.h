// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CALSA_H
#define UTTER_CALSA_H
#include <alsa/asoundlib.h>
#include <errno.h>
#include <poll.h>
#endif
