// SPDX-License-Identifier: Apache-2.0
#define LATE_LIBRARY "libcrypto.so.3"
#include "late.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#pragma GCC visibility push(hidden)
LATE(int, EVP_CIPHER_CTX_ctrl, (EVP_CIPHER_CTX *a, int b, int c, void *d), (a, b, c, d))
LATE(void, EVP_CIPHER_CTX_free, (EVP_CIPHER_CTX *a), (a))
LATE(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void), ())
LATE(int, EVP_CipherFinal_ex, (EVP_CIPHER_CTX *a, unsigned char *b, int *c), (a, b, c))
LATE(int, EVP_CipherInit_ex,
     (EVP_CIPHER_CTX *a, const EVP_CIPHER *b, ENGINE *c, const unsigned char *d,
      const unsigned char *e, int f),
     (a, b, c, d, e, f))
LATE(int, EVP_CipherUpdate,
     (EVP_CIPHER_CTX *a, unsigned char *b, int *c, const unsigned char *d, int e), (a, b, c, d, e))
LATE(const EVP_CIPHER *, EVP_aes_256_gcm, (void), ())
LATE(const EVP_MD *, EVP_sha256, (void), ())
LATE(unsigned char *, HMAC,
     (const EVP_MD *a, const void *b, int c, const unsigned char *d, size_t e, unsigned char *f,
      unsigned int *g),
     (a, b, c, d, e, f, g))
#pragma GCC visibility pop
