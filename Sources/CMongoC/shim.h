#ifndef SHIPSHAPE_CMONGOC_SHIM_H
#define SHIPSHAPE_CMONGOC_SHIM_H

#include <mongoc/mongoc.h>
#include <pthread.h>

// Debian's libbson aligns bson_t to 128 bytes, which Swift does not know: Swift must never allocate one. The shims
// below own every bson_t; Swift gives and takes plain bytes.

/// A document that the caller owns and lends for the call; `data` is NULL for "none".
typedef struct {
   const uint8_t *data;
   size_t length;
} cmongoc_document;

/// A document that the callee allocated; the receiver frees `data` with `bson_free`. NULL when there is none.
typedef struct {
   uint8_t *data;
   uint32_t length;
} cmongoc_reply;

/// Which defaults of the client a command takes, and whether the driver may retry it.
typedef enum {
   CMONGOC_COMMAND_RAW,
   CMONGOC_COMMAND_READ,
   CMONGOC_COMMAND_WRITE,
} cmongoc_command_kind;

/// Views `from` in `storage`; NULL for "none" and for bytes that are not one document.
static inline const bson_t *
cmongoc_view (bson_t *storage, cmongoc_document from)
{
   return from.data && bson_init_static (storage, from.data, from.length) ? storage : NULL;
}

/// Moves the bytes out of a reply that libmongoc initialised, and destroys it.
static inline cmongoc_reply
cmongoc_steal (bson_t *reply)
{
   cmongoc_reply stolen = {NULL, 0};
   stolen.data = bson_destroy_with_steal (reply, true, &stolen.length);
   return stolen;
}

/// Runs a command: `mongoc_client_command_with_opts` and its reading and writing forms. `reply` is always set.
static inline bool
cmongoc_command (mongoc_client_t *client,
                 cmongoc_command_kind kind,
                 const char *database,
                 cmongoc_document command,
                 cmongoc_document options,
                 const mongoc_read_prefs_t *preference,
                 cmongoc_reply *reply,
                 bson_error_t *error)
{
   bson_t command_storage, options_storage, answer;
   const bson_t *command_view = cmongoc_view (&command_storage, command);
   const bson_t *options_view = cmongoc_view (&options_storage, options);
   bool ok;
   switch (kind) {
   case CMONGOC_COMMAND_READ:
      ok = mongoc_client_read_command_with_opts (
         client, database, command_view, preference, options_view, &answer, error);
      break;
   case CMONGOC_COMMAND_WRITE:
      ok = mongoc_client_write_command_with_opts (client, database, command_view, options_view, &answer, error);
      break;
   default:
      ok = mongoc_client_command_with_opts (
         client, database, command_view, preference, options_view, &answer, error);
      break;
   }
   *reply = cmongoc_steal (&answer);
   return ok;
}

/// The number of a server that the client may read from, by its own read preference: `mongoc_client_select_server`. 0 on
/// failure.
static inline uint32_t
cmongoc_select_reader (mongoc_client_t *client, bson_error_t *error)
{
   mongoc_server_description_t *server =
      mongoc_client_select_server (client, false, mongoc_client_get_read_prefs (client), error);
   uint32_t id = server ? mongoc_server_description_id (server) : 0;
   if (server) {
      mongoc_server_description_destroy (server);
   }
   return id;
}

/// The lowest `maxWireVersion` of the servers that the client knows; 0 where it knows none.
static inline int32_t
cmongoc_oldest_wire_version (mongoc_client_t *client)
{
   size_t count = 0;
   mongoc_server_description_t **known = mongoc_client_get_server_descriptions (client, &count);
   int32_t oldest = 0;
   for (size_t i = 0; i < count; i++) {
      bson_iter_t iter;
      const bson_t *hello = mongoc_server_description_hello_response (known[i]);
      if (hello && bson_iter_init_find (&iter, hello, "maxWireVersion") && BSON_ITER_HOLDS_INT32 (&iter)) {
         int32_t version = bson_iter_int32 (&iter);
         oldest = oldest == 0 || version < oldest ? version : oldest;
      }
   }
   if (known) {
      mongoc_server_descriptions_destroy_all (known, count);
   }
   return oldest;
}

/// Whether a server that the client knows is a router.
static inline bool
cmongoc_knows_router (mongoc_client_t *client)
{
   size_t count = 0;
   mongoc_server_description_t **known = mongoc_client_get_server_descriptions (client, &count);
   bool found = false;
   for (size_t i = 0; i < count; i++) {
      found = found || !strcmp (mongoc_server_description_type (known[i]), "Mongos");
   }
   if (known) {
      mongoc_server_descriptions_destroy_all (known, count);
   }
   return found;
}

/// `mongoc_collection_find_with_opts`; the cursor is never NULL, and its error is found by its first `next`.
static inline mongoc_cursor_t *
cmongoc_find (mongoc_client_t *client,
              const char *database,
              const char *name,
              cmongoc_document filter,
              cmongoc_document options,
              const mongoc_read_prefs_t *preference)
{
   bson_t filter_storage, options_storage;
   mongoc_collection_t *collection = mongoc_client_get_collection (client, database, name);
   mongoc_cursor_t *cursor = mongoc_collection_find_with_opts (collection,
                                                               cmongoc_view (&filter_storage, filter),
                                                               cmongoc_view (&options_storage, options),
                                                               preference);
   mongoc_collection_destroy (collection);
   return cursor;
}

/// `mongoc_collection_aggregate`; `pipeline` is an array or holds one as "pipeline".
static inline mongoc_cursor_t *
cmongoc_aggregate (mongoc_client_t *client,
                   const char *database,
                   const char *name,
                   cmongoc_document pipeline,
                   cmongoc_document options,
                   const mongoc_read_prefs_t *preference)
{
   bson_t pipeline_storage, options_storage;
   mongoc_collection_t *collection = mongoc_client_get_collection (client, database, name);
   mongoc_cursor_t *cursor = mongoc_collection_aggregate (collection,
                                                          MONGOC_QUERY_NONE,
                                                          cmongoc_view (&pipeline_storage, pipeline),
                                                          cmongoc_view (&options_storage, options),
                                                          preference);
   mongoc_collection_destroy (collection);
   return cursor;
}

/// `mongoc_collection_watch`; the stream is never NULL, and its error is found by its first `next`.
static inline mongoc_change_stream_t *
cmongoc_watch (mongoc_client_t *client,
               const char *database,
               const char *name,
               cmongoc_document pipeline,
               cmongoc_document options)
{
   bson_t pipeline_storage, options_storage;
   mongoc_collection_t *collection = mongoc_client_get_collection (client, database, name);
   mongoc_change_stream_t *stream = mongoc_collection_watch (
      collection, cmongoc_view (&pipeline_storage, pipeline), cmongoc_view (&options_storage, options));
   mongoc_collection_destroy (collection);
   return stream;
}

/// `mongoc_change_stream_next`; the event is the stream's, until the next call.
static inline bool
cmongoc_change_stream_next (mongoc_change_stream_t *stream, cmongoc_document *event)
{
   const bson_t *next = NULL;
   if (!mongoc_change_stream_next (stream, &next)) {
      return false;
   }
   event->data = bson_get_data (next);
   event->length = next->len;
   return true;
}

/// `mongoc_change_stream_error_document`; the reply, where there is one, is the stream's.
static inline bool
cmongoc_change_stream_error (const mongoc_change_stream_t *stream, bson_error_t *error, cmongoc_document *reply)
{
   const bson_t *document = NULL;
   if (!mongoc_change_stream_error_document (stream, error, &document)) {
      return false;
   }
   if (document) {
      reply->data = bson_get_data (document);
      reply->length = document->len;
   }
   return true;
}

/// `mongoc_change_stream_get_resume_token`; the token, where there is one, is the stream's.
static inline cmongoc_document
cmongoc_change_stream_token (mongoc_change_stream_t *stream)
{
   const bson_t *token = mongoc_change_stream_get_resume_token (stream);
   cmongoc_document document = {token ? bson_get_data (token) : NULL, token ? token->len : 0};
   return document;
}

/// `mongoc_database_find_collections_with_opts`.
static inline mongoc_cursor_t *
cmongoc_list_collections (mongoc_client_t *client, const char *name, cmongoc_document options)
{
   bson_t storage;
   mongoc_database_t *database = mongoc_client_get_database (client, name);
   mongoc_cursor_t *cursor = mongoc_database_find_collections_with_opts (database, cmongoc_view (&storage, options));
   mongoc_database_destroy (database);
   return cursor;
}

/// A cursor that fetches the next batches of one that the server has open:
/// `mongoc_cursor_new_from_command_reply_with_opts`. `reply` is that of the command that opened it, without documents.
static inline mongoc_cursor_t *
cmongoc_cursor_continuing (mongoc_client_t *client, cmongoc_document reply, cmongoc_document options)
{
   bson_t reply_storage, options_storage, copy;
   bson_copy_to (cmongoc_view (&reply_storage, reply), &copy);
   return mongoc_cursor_new_from_command_reply_with_opts (client, &copy, cmongoc_view (&options_storage, options));
}

/// A session whose reads need not see what earlier ones saw: `mongoc_client_start_session`. NULL on failure.
static inline mongoc_client_session_t *
cmongoc_plain_session (mongoc_client_t *client, bson_error_t *error)
{
   mongoc_session_opt_t *options = mongoc_session_opts_new ();
   mongoc_session_opts_set_causal_consistency (options, false);
   mongoc_client_session_t *session = mongoc_client_start_session (client, options, error);
   mongoc_session_opts_destroy (options);
   return session;
}

/// `mongoc_cursor_next`; the document is the cursor's, until the next call.
static inline bool
cmongoc_cursor_next (mongoc_cursor_t *cursor, cmongoc_document *document)
{
   const bson_t *next = NULL;
   if (!mongoc_cursor_next (cursor, &next)) {
      return false;
   }
   document->data = bson_get_data (next);
   document->length = next->len;
   return true;
}

/// `mongoc_cursor_error_document`; the reply, where there is one, is the cursor's.
static inline bool
cmongoc_cursor_error (mongoc_cursor_t *cursor, bson_error_t *error, cmongoc_document *reply)
{
   const bson_t *document = NULL;
   if (!mongoc_cursor_error_document (cursor, error, &document)) {
      return false;
   }
   if (document) {
      reply->data = bson_get_data (document);
      reply->length = document->len;
   }
   return true;
}

/// `mongoc_client_session_append`: the options with the session's number.
static inline bool
cmongoc_session_append (const mongoc_client_session_t *session,
                        cmongoc_document options,
                        cmongoc_reply *appended,
                        bson_error_t *error)
{
   bson_t storage, copy;
   const bson_t *view = cmongoc_view (&storage, options);
   if (view) {
      bson_copy_to (view, &copy);
   } else {
      bson_init (&copy);
   }
   bool ok = mongoc_client_session_append (session, &copy, error);
   *appended = cmongoc_steal (&copy);
   return ok;
}

/// The session's `lsid`, lent while the session lives: `mongoc_client_session_get_lsid`.
static inline cmongoc_document
cmongoc_session_lsid (const mongoc_client_session_t *session)
{
   const bson_t *lsid = mongoc_client_session_get_lsid (session);
   cmongoc_document document = {lsid ? bson_get_data (lsid) : NULL, lsid ? lsid->len : 0};
   return document;
}

/// `mongoc_client_session_start_transaction`: reads see one point in time, and the commit waits for a majority, or only
/// for the primary. With `local`, the reads need not wait for a majority.
static inline bool
cmongoc_session_start_transaction (
   mongoc_client_session_t *session, bool local, bool majority, int64_t commit_ms, bson_error_t *error)
{
   mongoc_transaction_opt_t *options = mongoc_transaction_opts_new ();
   mongoc_read_concern_t *reads = mongoc_read_concern_new ();
   mongoc_read_concern_set_level (reads, local ? MONGOC_READ_CONCERN_LEVEL_LOCAL : MONGOC_READ_CONCERN_LEVEL_SNAPSHOT);
   mongoc_transaction_opts_set_read_concern (options, reads);
   mongoc_write_concern_t *writes = mongoc_write_concern_new ();
   if (majority) {
      mongoc_write_concern_set_wmajority (writes, (int32_t) commit_ms);
   } else {
      mongoc_write_concern_set_w (writes, 1);
   }
   mongoc_transaction_opts_set_write_concern (options, writes);
   mongoc_read_prefs_t *primary = mongoc_read_prefs_new (MONGOC_READ_PRIMARY);
   mongoc_transaction_opts_set_read_prefs (options, primary);
   mongoc_read_prefs_destroy (primary);
   mongoc_transaction_opts_set_max_commit_time_ms (options, commit_ms);
   bool ok = mongoc_client_session_start_transaction (session, options, error);
   mongoc_write_concern_destroy (writes);
   mongoc_read_concern_destroy (reads);
   mongoc_transaction_opts_destroy (options);
   return ok;
}

/// `mongoc_client_session_commit_transaction`; `reply` is always set.
static inline bool
cmongoc_session_commit (mongoc_client_session_t *session, cmongoc_reply *reply, bson_error_t *error)
{
   bson_t answer;
   bool ok = mongoc_client_session_commit_transaction (session, &answer, error);
   *reply = cmongoc_steal (&answer);
   return ok;
}

#endif
