// SPDX-License-Identifier: Apache-2.0
// Nothing: the library is C++, which CVoice calls. This module says where it is.
#ifndef UTTER_CWEBRTC_H
#define UTTER_CWEBRTC_H
#endif
