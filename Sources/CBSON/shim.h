#ifndef SHIPSHAPE_CBSON_SHIM_H
#define SHIPSHAPE_CBSON_SHIM_H

#include <bson/bson.h>
#include <ctype.h>
#include <string.h>

// Debian's libbson aligns bson_t to 128 bytes, which Swift does not know: no bson_t is ever allocated or passed
// on the Swift side. These functions take and give plain bytes.

/// Whether relaxed extended JSON has a date after the year 9999. libbson writes a year of more than four digits, which
/// no program can read.
static inline bool
cbson_has_far_date (const char *json)
{
   // In a string of the JSON, a backslash is before each quotation mark.
   static const char start[] = "{ \"$date\" : \"";
   while ((json = strstr (json, start))) {
      json += sizeof start - 1;
      if (strnlen (json, 5) == 5 && isdigit ((unsigned char) json[4])) {
         return true;
      }
   }
   return false;
}

/// Renders the document at `bytes` as extended JSON; `relaxed` picks the form, except for a document with a date after
/// the year 9999, which is always canonical. NULL when it is not valid BSON. The caller frees the result with
/// `bson_free`.
static inline char *
cbson_extended_json (const uint8_t *bytes, size_t length, bool relaxed, size_t *json_length)
{
   bson_t document;
   if (!bson_init_static (&document, bytes, length)) {
      return NULL;
   }
   if (relaxed) {
      char *json = bson_as_relaxed_extended_json (&document, json_length);
      if (!json || !cbson_has_far_date (json)) {
         return json;
      }
      bson_free (json);
   }
   return bson_as_canonical_extended_json (&document, json_length);
}

/// Parses extended JSON. NULL with `error` filled when it is malformed. The caller frees the result with `bson_free`.
static inline uint8_t *
cbson_from_json (const uint8_t *json, ssize_t json_length, uint32_t *length, bson_error_t *error)
{
   bson_t *document = bson_new_from_json (json, json_length, error);
   return document ? bson_destroy_with_steal (document, true, length) : NULL;
}

#endif
