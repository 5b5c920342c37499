/* The references of `check` and `backfill --dry-run`, with nothing but libmongoc and libbson:
 *   read cursor    URI DB COLLECTION [BATCH]    reads every document with one cursor; BATCH documents at a time, or as
 *                                               many as the server gives without being asked for a number
 *   read count     URI DB COLLECTION VALIDATOR  has the server count the documents that do not fit a $jsonSchema
 *   read matching  URI DB COLLECTION FILTER     has the server count the documents that match a filter
 *   read aggregate URI DB COLLECTION PIPELINE   reads the result of an aggregation; its file holds {"pipeline": [...]}
 *   read file      DOCUMENTS                    reads every document of a .bson file
 * Touches the length of every document, and prints its counts, so that the work cannot be optimised away. */
#include <inttypes.h>
#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
fail (const char *what, const bson_error_t *error)
{
   fprintf (stderr, "read: %s: %s\n", what, error->message);
   exit (1);
}

static void
print (uint64_t documents, uint64_t bytes)
{
   printf ("%" PRIu64 " documents, %" PRIu64 " bytes\n", documents, bytes);
}

/* Reads every document of a cursor, prints their number and size, and destroys the cursor. */
static void
read_all (mongoc_cursor_t *cursor)
{
   const bson_t *document;
   bson_error_t error;
   uint64_t documents = 0, bytes = 0;
   while (mongoc_cursor_next (cursor, &document)) {
      documents++;
      bytes += document->len;
   }
   if (mongoc_cursor_error (cursor, &error)) {
      fail ("cursor", &error);
   }
   print (documents, bytes);
   mongoc_cursor_destroy (cursor);
}

static void
find_all (mongoc_collection_t *collection, const char *batch)
{
   bson_t *filter = bson_new ();
   bson_t *options = batch ? BCON_NEW ("batchSize", BCON_INT32 (atoi (batch))) : bson_new ();
   read_all (mongoc_collection_find_with_opts (collection, filter, options, NULL));
   bson_destroy (options);
   bson_destroy (filter);
}

static void
read_json (const char *path, bson_t *document)
{
   bson_error_t error;
   bson_json_reader_t *reader = bson_json_reader_new_from_file (path, &error);
   if (!reader || bson_json_reader_read (reader, document, &error) < 1) {
      fail (path, &error);
   }
   bson_json_reader_destroy (reader);
}

static int64_t
count (mongoc_collection_t *collection, const bson_t *filter)
{
   bson_error_t error;
   int64_t count = mongoc_collection_count_documents (collection, filter, NULL, NULL, NULL, &error);
   if (count < 0) {
      fail ("count", &error);
   }
   return count;
}

static void
count_misfits (mongoc_collection_t *collection, const char *path)
{
   bson_t schema = BSON_INITIALIZER;
   read_json (path, &schema);
   bson_t *filter = BCON_NEW ("$nor", "[", "{", "$jsonSchema", BCON_DOCUMENT (&schema), "}", "]");
   printf ("%" PRId64 " documents do not fit\n", count (collection, filter));
   bson_destroy (filter);
   bson_destroy (&schema);
}

static void
count_matching (mongoc_collection_t *collection, const char *text)
{
   bson_error_t error;
   bson_t *filter = bson_new_from_json ((const uint8_t *) text, -1, &error);
   if (!filter) {
      fail ("filter", &error);
   }
   printf ("%" PRId64 " documents match\n", count (collection, filter));
   bson_destroy (filter);
}

static void
aggregate (mongoc_collection_t *collection, const char *path)
{
   bson_t pipeline = BSON_INITIALIZER;
   bson_t *options = BCON_NEW ("readConcern", "{", "level", "majority", "}");
   read_json (path, &pipeline);
   read_all (mongoc_collection_aggregate (collection, MONGOC_QUERY_NONE, &pipeline, options, NULL));
   bson_destroy (options);
   bson_destroy (&pipeline);
}

static void
read_file (const char *path)
{
   bson_error_t error;
   bson_reader_t *reader = bson_reader_new_from_file (path, &error);
   if (!reader) {
      fail (path, &error);
   }
   const bson_t *document;
   bool is_at_end = false;
   uint64_t documents = 0, bytes = 0;
   while ((document = bson_reader_read (reader, &is_at_end))) {
      documents++;
      bytes += document->len;
   }
   if (!is_at_end) {
      fprintf (stderr, "read: %s: damaged\n", path);
      exit (1);
   }
   print (documents, bytes);
   bson_reader_destroy (reader);
}

int
main (int argc, char **argv)
{
   if (argc == 3 && strcmp (argv[1], "file") == 0) {
      read_file (argv[2]);
      return 0;
   }
   const char *mode = argc > 4 ? argv[1] : "", *last = argc > 5 ? argv[5] : NULL;
   bool is_cursor = strcmp (mode, "cursor") == 0, is_count = strcmp (mode, "count") == 0;
   bool is_matching = strcmp (mode, "matching") == 0;
   if (!is_cursor && (!last || (!is_count && !is_matching && strcmp (mode, "aggregate") != 0))) {
      fprintf (stderr, "usage: read cursor|count|matching|aggregate URI DB COLLECTION [BATCH|VALIDATOR|FILTER|PIPELINE], "
                       "read file FILE\n");
      return 64;
   }
   mongoc_init ();
   mongoc_client_t *client = mongoc_client_new (argv[2]);
   if (!client) {
      fprintf (stderr, "read: the connection string is not valid\n");
      return 78;
   }
   mongoc_collection_t *collection = mongoc_client_get_collection (client, argv[3], argv[4]);
   if (is_cursor) {
      find_all (collection, last);
   } else if (is_count) {
      count_misfits (collection, last);
   } else if (is_matching) {
      count_matching (collection, last);
   } else {
      aggregate (collection, last);
   }
   mongoc_collection_destroy (collection);
   mongoc_client_destroy (client);
   mongoc_cleanup ();
   return 0;
}
