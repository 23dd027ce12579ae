// SPDX-License-Identifier: Apache-2.0
#define LATE_LIBRARY "libcrypto.so.3"
#include "late.h"
#include <openssl/evp.h>

#pragma GCC visibility push(hidden)
LATE(int, EVP_DigestFinal_ex, (EVP_MD_CTX *a, unsigned char *b, unsigned int *c), (a, b, c))
LATE(int, EVP_DigestInit_ex, (EVP_MD_CTX *a, const EVP_MD *b, ENGINE *c), (a, b, c))
LATE(int, EVP_DigestUpdate, (EVP_MD_CTX *a, const void *b, size_t c), (a, b, c))
LATE(void, EVP_MD_CTX_free, (EVP_MD_CTX *a), (a))
LATE(EVP_MD_CTX *, EVP_MD_CTX_new, (void), ())
LATE(const EVP_MD *, EVP_sha256, (void), ())
#pragma GCC visibility pop
