/* What `check` is measured against, with nothing but libmongoc:
 *   read cursor URI DB COLLECTION            reads every document with one cursor and touches its length
 *   read count  URI DB COLLECTION VALIDATOR  has the server count what does not fit a $jsonSchema
 * Prints what it found, so that the work cannot be optimised away. */
#include <inttypes.h>
#include <mongoc/mongoc.h>
#include <stdio.h>
#include <string.h>

static int
failed (const bson_error_t *error)
{
   fprintf (stderr, "read: %s\n", error->message);
   return 1;
}

static int
read_all (mongoc_collection_t *collection)
{
   bson_t *filter = bson_new ();
   bson_t *options = BCON_NEW ("batchSize", BCON_INT32 (10000));
   mongoc_cursor_t *cursor = mongoc_collection_find_with_opts (collection, filter, options, NULL);
   const bson_t *document;
   bson_error_t error;
   uint64_t documents = 0, bytes = 0;
   while (mongoc_cursor_next (cursor, &document)) {
      documents++;
      bytes += document->len;
   }
   int status = mongoc_cursor_error (cursor, &error) ? failed (&error) : 0;
   printf ("%" PRIu64 " documents, %" PRIu64 " bytes\n", documents, bytes);
   mongoc_cursor_destroy (cursor);
   bson_destroy (options);
   bson_destroy (filter);
   return status;
}

static int
count_misfits (mongoc_collection_t *collection, const char *path)
{
   bson_error_t error;
   bson_json_reader_t *reader = bson_json_reader_new_from_file (path, &error);
   bson_t schema = BSON_INITIALIZER;
   if (!reader || bson_json_reader_read (reader, &schema, &error) < 0) {
      return failed (&error);
   }
   bson_t *filter =
      BCON_NEW ("$nor", "[", "{", "$jsonSchema", BCON_DOCUMENT (&schema), "}", "]");
   int64_t count = mongoc_collection_count_documents (collection, filter, NULL, NULL, NULL, &error);
   if (count < 0) {
      return failed (&error);
   }
   printf ("%" PRId64 " documents do not fit\n", count);
   bson_destroy (filter);
   bson_destroy (&schema);
   bson_json_reader_destroy (reader);
   return 0;
}

int
main (int argc, char **argv)
{
   if (argc < 5) {
      fprintf (stderr, "usage: read cursor|count URI DB COLLECTION [VALIDATOR]\n");
      return 64;
   }
   mongoc_init ();
   mongoc_client_t *client = mongoc_client_new (argv[2]);
   if (!client) {
      fprintf (stderr, "read: the connection string is not valid\n");
      return 78;
   }
   mongoc_collection_t *collection = mongoc_client_get_collection (client, argv[3], argv[4]);
   int status = strcmp (argv[1], "count") == 0 && argc > 5 ? count_misfits (collection, argv[5]) : read_all (collection);
   mongoc_collection_destroy (collection);
   mongoc_client_destroy (client);
   mongoc_cleanup ();
   return status;
}
