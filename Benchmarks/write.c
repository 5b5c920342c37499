// What a backfill is measured against: the same change of every document of a collection, without any of its care.
//
//   write once URI DATABASE COLLECTION   one updateMany
//   write each URI DATABASE COLLECTION   a loop that reads each document and sends one update for it, 1,000 together
//   write reset URI DATABASE COLLECTION  copies bench.Order there, and drops what earlier jobs left in `shipshape`
//   write run URI DATABASE COMMAND       runs a command, given in extended JSON, as the bench needs it
//
// The change turns the int `quantity` into a string. Prints how many documents were changed.

#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const bson_error_t *error) {
    fprintf(stderr, "write: %s: %s\n", what, error->message);
    exit(1);
}

static mongoc_write_concern_t *majority(void) {
    mongoc_write_concern_t *concern = mongoc_write_concern_new();
    mongoc_write_concern_set_wmajority(concern, -1);
    return concern;
}

static long long once(mongoc_collection_t *collection) {
    bson_t *filter = BCON_NEW("quantity", "{", "$type", "int", "}");
    bson_t *pipeline = BCON_NEW("0", "{", "$set", "{", "quantity", "{", "$toString", "$quantity", "}", "}", "}");
    bson_t options = BSON_INITIALIZER;
    mongoc_write_concern_t *concern = majority();
    mongoc_write_concern_append(concern, &options);
    bson_t reply;
    bson_error_t error;
    bson_t command = BSON_INITIALIZER, updates, update;
    BSON_APPEND_UTF8(&command, "update", mongoc_collection_get_name(collection));
    BSON_APPEND_ARRAY_BEGIN(&command, "updates", &updates);
    BSON_APPEND_DOCUMENT_BEGIN(&updates, "0", &update);
    BSON_APPEND_DOCUMENT(&update, "q", filter);
    BSON_APPEND_ARRAY(&update, "u", pipeline);
    BSON_APPEND_BOOL(&update, "multi", true);
    bson_append_document_end(&updates, &update);
    bson_append_array_end(&command, &updates);
    if (!mongoc_collection_write_command_with_opts(collection, &command, &options, &reply, &error)) {
        fail("updateMany", &error);
    }
    bson_iter_t iterator;
    long long changed = bson_iter_init_find(&iterator, &reply, "nModified") ? bson_iter_as_int64(&iterator) : -1;
    bson_destroy(&reply);
    return changed;
}

static long long flush(mongoc_bulk_operation_t *bulk) {
    bson_t reply;
    bson_error_t error;
    if (!mongoc_bulk_operation_execute(bulk, &reply, &error)) fail("bulk", &error);
    bson_iter_t iterator;
    long long changed = bson_iter_init_find(&iterator, &reply, "nModified") ? bson_iter_as_int64(&iterator) : -1;
    bson_destroy(&reply);
    mongoc_bulk_operation_destroy(bulk);
    return changed;
}

static long long each(mongoc_collection_t *collection) {
    mongoc_write_concern_t *concern = majority();
    bson_t options = BSON_INITIALIZER;
    mongoc_write_concern_append(concern, &options);
    bson_t *filter = BCON_NEW("quantity", "{", "$type", "int", "}");
    bson_t *projection = BCON_NEW("projection", "{", "quantity", BCON_INT32(1), "}", "batchSize", BCON_INT32(5000));
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(collection, filter, projection, NULL);
    mongoc_bulk_operation_t *bulk = NULL;
    const bson_t *document;
    bson_error_t error;
    long long changed = 0;
    int count = 0;
    while (mongoc_cursor_next(cursor, &document)) {
        if (!bulk) bulk = mongoc_collection_create_bulk_operation_with_opts(collection, &options);
        bson_iter_t iterator;
        if (!bson_iter_init_find(&iterator, document, "quantity")) continue;
        char text[16];
        int quantity = bson_iter_int32(&iterator);
        snprintf(text, sizeof text, "%d", quantity);
        bson_t selector = BSON_INITIALIZER;
        bson_iter_init_find(&iterator, document, "_id");
        bson_append_iter(&selector, "_id", -1, &iterator);
        BSON_APPEND_INT32(&selector, "quantity", quantity);
        bson_t *change = BCON_NEW("$set", "{", "quantity", BCON_UTF8(text), "}");
        if (!mongoc_bulk_operation_update_one_with_opts(bulk, &selector, change, NULL, &error)) fail("update", &error);
        bson_destroy(change);
        bson_destroy(&selector);
        if (++count % 1000 == 0) {
            changed += flush(bulk);
            bulk = NULL;
        }
    }
    if (mongoc_cursor_error(cursor, &error)) fail("find", &error);
    if (bulk) changed += flush(bulk);
    mongoc_cursor_destroy(cursor);
    return changed;
}

static void run(mongoc_client_t *client, const char *database, bson_t *command) {
    bson_t reply;
    bson_error_t error;
    if (!mongoc_client_command_simple(client, database, command, NULL, &reply, &error)) fail(database, &error);
    bson_destroy(&reply);
    bson_destroy(command);
}

static void reset(mongoc_client_t *client, const char *database, const char *collection) {
    run(client, "shipshape", BCON_NEW("dropDatabase", BCON_INT32(1)));
    run(client, "bench", BCON_NEW(
        "aggregate", "Order", "pipeline", "[", "{", "$out", "{", "db", BCON_UTF8(database), "coll",
        BCON_UTF8(collection), "}", "}", "]", "cursor", "{", "}"));
    // So that no run pays for the writes of the one before.
    run(client, "admin", BCON_NEW("fsync", BCON_INT32(1)));
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: write once|each|reset URI DATABASE COLLECTION, write run URI DATABASE COMMAND\n");
        return 64;
    }
    mongoc_init();
    mongoc_client_t *client = mongoc_client_new(arguments[2]);
    if (strcmp(arguments[1], "run") == 0) {
        bson_error_t error;
        bson_t *command = bson_new_from_json((const uint8_t *) arguments[4], -1, &error);
        if (!command) fail("command", &error);
        run(client, arguments[3], command);
        return 0;
    }
    if (strcmp(arguments[1], "reset") == 0) {
        reset(client, arguments[3], arguments[4]);
        return 0;
    }
    mongoc_collection_t *collection = mongoc_client_get_collection(client, arguments[3], arguments[4]);
    long long changed = strcmp(arguments[1], "each") == 0 ? each(collection) : once(collection);
    printf("%lld documents changed\n", changed);
    mongoc_collection_destroy(collection);
    mongoc_client_destroy(client);
    mongoc_cleanup();
    return 0;
}
