#include "AllocationCounter.h"

#include <stddef.h>

static _Thread_local unsigned long allocations, bytes;

unsigned long countedAllocations(void) { return allocations; }
unsigned long countedBytes(void) { return bytes; }

// The tests' program defines the functions of the C library anew, so that all libraries call these. A sanitizer does the
// same, and then nothing is counted.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#endif

#ifndef IS_SANITIZED
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
    allocations++;
    bytes += size;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    bytes += count * size;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    allocations++;
    bytes += size;
    return __libc_realloc(old, size);
}
#endif
