#ifndef SHIPSHAPE_CCRYPTO_H
#define SHIPSHAPE_CCRYPTO_H

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdbool.h>
#include <stddef.h>

// The digest has 32 bytes.
static inline bool ccrypto_hmac_sha256(
    const void *key, size_t key_length, const void *data, size_t length, unsigned char *digest)
{
    return HMAC(EVP_sha256(), key, (int) key_length, (const unsigned char *) data, length, digest, NULL) != NULL;
}

// The digest has 32 bytes.
static inline bool ccrypto_sha256(const void *data, size_t length, unsigned char *digest)
{
    return EVP_Digest(data, length, digest, NULL, EVP_sha256(), NULL) == 1;
}

#endif
