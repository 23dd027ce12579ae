// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CCRYPTO_H
#define UTTER_CCRYPTO_H
#include <openssl/evp.h>
#endif
