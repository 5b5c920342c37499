#ifndef SHIPSHAPE_CBSON_SHIM_H
#define SHIPSHAPE_CBSON_SHIM_H

#include <bson/bson.h>

// Debian's libbson aligns bson_t to 128 bytes, which Swift does not know: no bson_t is ever allocated or passed
// on the Swift side. These functions take and give plain bytes.

/// Renders the document at `bytes` as extended JSON; `relaxed` picks the form. NULL when it is not valid BSON.
/// The caller frees the result with `bson_free`.
static inline char *
cbson_extended_json (const uint8_t *bytes, size_t length, bool relaxed, size_t *json_length)
{
   bson_t document;
   if (!bson_init_static (&document, bytes, length)) {
      return NULL;
   }
   return relaxed ? bson_as_relaxed_extended_json (&document, json_length)
                  : bson_as_canonical_extended_json (&document, json_length);
}

/// Parses extended JSON. NULL with `error` filled when it is malformed. The caller frees the result with `bson_free`.
static inline uint8_t *
cbson_from_json (const uint8_t *json, ssize_t json_length, uint32_t *length, bson_error_t *error)
{
   bson_t *document = bson_new_from_json (json, json_length, error);
   return document ? bson_destroy_with_steal (document, true, length) : NULL;
}

#endif
