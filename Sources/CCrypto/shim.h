// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CCRYPTO_H
#define UTTER_CCRYPTO_H
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#endif
