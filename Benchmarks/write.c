// Makes the same change as a backfill, but without journal, fence and checks, to compare the times of both.
//
//   write run    URI DATABASE COMMAND     one command, given in extended JSON
//   write retype URI DATABASE COLLECTION  a loop that reads each document and sends one update for it, 1,000 together:
//                                         turns the int `quantity` into a string
//   write items  URI DATABASE COLLECTION  the same loop: gives each element of `items` a `currency`
//
// Prints how many documents were changed.

#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const bson_error_t *error) {
    fprintf(stderr, "write: %s: %s\n", what, error->message);
    exit(1);
}

static long long changed(const bson_t *reply) {
    bson_iter_t iterator;
    return bson_iter_init_find(&iterator, reply, "nModified") ? bson_iter_as_int64(&iterator) : -1;
}

static long long run(mongoc_client_t *client, const char *database, const char *text) {
    bson_t reply;
    bson_error_t error;
    bson_t *command = bson_new_from_json((const uint8_t *) text, -1, &error);
    if (!command) fail("command", &error);
    if (!mongoc_client_write_command_with_opts(client, database, command, NULL, &reply, &error)) fail(database, &error);
    long long count = changed(&reply);
    bson_destroy(&reply);
    bson_destroy(command);
    return count;
}

static long long flush(mongoc_bulk_operation_t *bulk) {
    bson_t reply;
    bson_error_t error;
    if (!mongoc_bulk_operation_execute(bulk, &reply, &error)) fail("bulk", &error);
    long long count = changed(&reply);
    bson_destroy(&reply);
    mongoc_bulk_operation_destroy(bulk);
    return count;
}

// A function that appends the new value of a field to `set`, the fields that an update sets.
typedef void (*change_t)(bson_iter_t *value, bson_t *set);

static void retype(bson_iter_t *value, bson_t *set) {
    char text[16];
    snprintf(text, sizeof text, "%d", bson_iter_int32(value));
    BSON_APPEND_UTF8(set, "quantity", text);
}

static void add_currency(bson_iter_t *value, bson_t *set) {
    bson_iter_t element, fields;
    bson_t list, object;
    BSON_APPEND_ARRAY_BEGIN(set, "items", &list);
    bson_iter_recurse(value, &element);
    while (bson_iter_next(&element)) {
        bool has_currency = bson_iter_recurse(&element, &fields) && bson_iter_find(&fields, "currency") &&
            !BSON_ITER_HOLDS_NULL(&fields);
        bson_append_document_begin(&list, bson_iter_key(&element), -1, &object);
        bson_iter_recurse(&element, &fields);
        while (bson_iter_next(&fields)) {
            if (!BSON_ITER_HOLDS_NULL(&fields)) bson_append_iter(&object, NULL, 0, &fields);
        }
        if (!has_currency) BSON_APPEND_UTF8(&object, "currency", "EUR");
        bson_append_document_end(&list, &object);
    }
    bson_append_array_end(set, &list);
}

static long long each(mongoc_collection_t *collection, const char *field, bson_t *filter, change_t change) {
    mongoc_write_concern_t *concern = mongoc_write_concern_new();
    mongoc_write_concern_set_wmajority(concern, -1);
    bson_t options = BSON_INITIALIZER;
    mongoc_write_concern_append(concern, &options);
    bson_t *projection = BCON_NEW("projection", "{", field, BCON_INT32(1), "}", "batchSize", BCON_INT32(5000));
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(collection, filter, projection, NULL);
    mongoc_bulk_operation_t *bulk = NULL;
    const bson_t *document;
    bson_error_t error;
    long long total = 0;
    int count = 0;
    while (mongoc_cursor_next(cursor, &document)) {
        if (!bulk) bulk = mongoc_collection_create_bulk_operation_with_opts(collection, &options);
        bson_iter_t value, id;
        if (!bson_iter_init_find(&value, document, field)) continue;
        bson_t selector = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
        bson_iter_init_find(&id, document, "_id");
        bson_append_iter(&selector, "_id", -1, &id);
        BSON_APPEND_DOCUMENT_BEGIN(&update, "$set", &set);
        change(&value, &set);
        bson_append_document_end(&update, &set);
        if (!mongoc_bulk_operation_update_one_with_opts(bulk, &selector, &update, NULL, &error)) fail("update", &error);
        bson_destroy(&update);
        bson_destroy(&selector);
        if (++count % 1000 == 0) {
            total += flush(bulk);
            bulk = NULL;
        }
    }
    if (mongoc_cursor_error(cursor, &error)) fail("find", &error);
    if (bulk) total += flush(bulk);
    mongoc_cursor_destroy(cursor);
    return total;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: write run URI DATABASE COMMAND, write retype|items URI DATABASE COLLECTION\n");
        return 64;
    }
    mongoc_init();
    mongoc_client_t *client = mongoc_client_new(argv[2]);
    long long count;
    if (strcmp(argv[1], "run") == 0) {
        count = run(client, argv[3], argv[4]);
    } else {
        mongoc_collection_t *collection = mongoc_client_get_collection(client, argv[3], argv[4]);
        count = strcmp(argv[1], "retype") == 0
            ? each(collection, "quantity", BCON_NEW("quantity", "{", "$type", "int", "}"), retype)
            : each(collection, "items",
                   BCON_NEW("items", "{", "$elemMatch", "{", "currency", BCON_NULL, "}", "}"), add_currency);
        mongoc_collection_destroy(collection);
    }
    printf("%lld documents changed\n", count);
    mongoc_client_destroy(client);
    mongoc_cleanup();
    return 0;
}
