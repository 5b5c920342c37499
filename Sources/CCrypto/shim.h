#ifndef SHIPSHAPE_CCRYPTO_H
#define SHIPSHAPE_CCRYPTO_H

// SHA256_Init and its like need no memory, where EVP_Digest allocates for each call.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <endian.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

// The first 16 bytes of the digest of a byte and the data after it.
static inline void ccrypto_sha256_words(
    unsigned char byte, const void *data, size_t length, uint64_t *high, uint64_t *low)
{
    SHA256_CTX context;
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_Init(&context);
    SHA256_Update(&context, &byte, 1);
    SHA256_Update(&context, data, length);
    SHA256_Final(digest, &context);
    memcpy(high, digest, 8);
    memcpy(low, digest + 8, 8);
    *high = be64toh(*high);
    *low = be64toh(*low);
}

// Whether a PEM file holds a certificate.
static inline bool ccrypto_has_certificate(const char *path)
{
    BIO *file = BIO_new_file(path, "r");
    X509 *certificate = file ? PEM_read_bio_X509_AUX(file, NULL, NULL, NULL) : NULL;
    bool found = certificate != NULL;
    X509_free(certificate);
    BIO_free(file);
    ERR_clear_error();
    return found;
}

typedef enum {
    CCRYPTO_PEM_GOOD,
    CCRYPTO_PEM_NO_CERTIFICATE,
    CCRYPTO_PEM_NO_KEY,
    CCRYPTO_PEM_NO_PASSWORD,
    CCRYPTO_PEM_WRONG_PASSWORD,
    CCRYPTO_PEM_MISMATCH,
} ccrypto_pem;

// What is asked for a key's password, and whether it was.
typedef struct {
    const char *password;
    bool asked;
} ccrypto_key_password;

// Without a password it gives none, where OpenSSL's own would ask the terminal.
static inline int ccrypto_give_password(char *buffer, int size, int for_writing, void *context)
{
    ccrypto_key_password *key = (ccrypto_key_password *) context;
    key->asked = true;
    size_t length = key->password ? strlen(key->password) : 0;
    if (length == 0 || length > (size_t) size) {
        return -1;
    }
    memcpy(buffer, key->password, length);
    return (int) length;
}

// Whether a PEM file holds a certificate and its key, which the password opens; the password may be NULL.
static inline ccrypto_pem ccrypto_check_identity(const char *path, const char *password)
{
    ccrypto_key_password asked = {password, false};
    ccrypto_pem result = CCRYPTO_PEM_GOOD;
    BIO *file = BIO_new_file(path, "r");
    X509 *certificate = file ? PEM_read_bio_X509_AUX(file, NULL, ccrypto_give_password, &asked) : NULL;
    BIO_free(file);
    file = BIO_new_file(path, "r");
    asked.asked = false;
    EVP_PKEY *key = file ? PEM_read_bio_PrivateKey(file, NULL, ccrypto_give_password, &asked) : NULL;
    BIO_free(file);
    if (!certificate) {
        result = CCRYPTO_PEM_NO_CERTIFICATE;
    } else if (!key) {
        result = !asked.asked ? CCRYPTO_PEM_NO_KEY
                 : password && *password ? CCRYPTO_PEM_WRONG_PASSWORD
                                         : CCRYPTO_PEM_NO_PASSWORD;
    } else if (X509_check_private_key(certificate, key) != 1) {
        result = CCRYPTO_PEM_MISMATCH;
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return result;
}

#endif
