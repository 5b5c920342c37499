// Writes as the clients of both sides of a partner do, while a mirror carries their changes over.
//
//   clients URI DATABASE RATE SECONDS
//
// Changes RATE documents a second, for SECONDS. Half of the changes set `title` in Task. The others set `name` in
// TaskV2, whose `_id`s are those of Task as text. No document is changed on both sides. Prints the number of changes
// and the time that they took.

#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PART_MILLISECONDS = 50, MOST = 100000 };

static bson_oid_t ids[MOST];

static void fail(const char *what, const bson_error_t *error) {
    fprintf(stderr, "clients: %s: %s\n", what, error->message);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int read_ids(mongoc_collection_t *tasks) {
    bson_t filter = BSON_INITIALIZER;
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(tasks, &filter, NULL, NULL);
    const bson_t *document;
    bson_error_t error;
    bson_iter_t id;
    int count = 0;
    while (count < MOST && mongoc_cursor_next(cursor, &document)) {
        if (bson_iter_init_find(&id, document, "_id")) bson_oid_copy(bson_iter_oid(&id), &ids[count++]);
    }
    if (mongoc_cursor_error(cursor, &error)) fail("find", &error);
    mongoc_cursor_destroy(cursor);
    return count;
}

static void change(mongoc_collection_t *side, int is_partner, int changes, int count) {
    mongoc_bulk_operation_t *bulk = mongoc_collection_create_bulk_operation_with_opts(side, NULL);
    bson_error_t error;
    bson_t reply;
    char text[32], id[25];
    for (int index = 0; index < changes; index++) {
        bson_t selector = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
        const bson_oid_t *task = &ids[rand() % (count / 2) * 2 + is_partner];
        bson_oid_to_string(task, id);
        if (is_partner) BSON_APPEND_UTF8(&selector, "_id", id);
        else BSON_APPEND_OID(&selector, "_id", task);
        snprintf(text, sizeof text, "%d", rand());
        BSON_APPEND_DOCUMENT_BEGIN(&update, "$set", &set);
        BSON_APPEND_UTF8(&set, is_partner ? "name" : "title", text);
        bson_append_document_end(&update, &set);
        if (!mongoc_bulk_operation_update_one_with_opts(bulk, &selector, &update, NULL, &error)) fail("update", &error);
        bson_destroy(&update);
        bson_destroy(&selector);
    }
    if (!mongoc_bulk_operation_execute(bulk, &reply, &error)) fail("bulk", &error);
    bson_destroy(&reply);
    mongoc_bulk_operation_destroy(bulk);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: clients URI DATABASE RATE SECONDS\n");
        return 64;
    }
    int rate = atoi(argv[3]), seconds = atoi(argv[4]);
    mongoc_init();
    mongoc_client_t *client = mongoc_client_new(argv[1]);
    mongoc_collection_t *sides[] = {
        mongoc_client_get_collection(client, argv[2], "Task"), mongoc_client_get_collection(client, argv[2], "TaskV2")};
    int count = read_ids(sides[0]);
    int part = rate * PART_MILLISECONDS / 1000 / 2;
    long long sent = 0;
    double start = now();
    while (now() - start < seconds) {
        for (int side = 0; side < 2; side++) change(sides[side], side, part, count);
        sent += 2 * part;
        double rest = start + (double) sent / rate - now();
        if (rest > 0) nanosleep(&(struct timespec) {.tv_sec = (time_t) rest, .tv_nsec = (long) ((rest - (time_t) rest) * 1e9)}, NULL);
    }
    printf("%lld changes in %.1f s\n", sent, now() - start);
    for (int side = 0; side < 2; side++) mongoc_collection_destroy(sides[side]);
    mongoc_client_destroy(client);
    mongoc_cleanup();
    return 0;
}
