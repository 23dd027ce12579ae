// SPDX-License-Identifier: Apache-2.0
#ifndef UTTER_CCRYPTO_H
#define UTTER_CCRYPTO_H
// What OpenSSL 3 recommends instead of SHA256_Update reads a configuration and looks for a provider
// first, which takes 3 ms.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#endif
