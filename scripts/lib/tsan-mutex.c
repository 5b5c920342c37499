// To be preloaded: reports the waits of Swift's Mutex to ThreadSanitizer. A contended lock is handed over by the
// kernel, in a library that is not instrumented, so everything that the Mutex guards would be reported as a race.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// These functions exist only in a program that is built with ThreadSanitizer.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
    static SWIFT void (*next)(uint32_t, SELF);
    if (!next) next = dlsym(RTLD_NEXT, LOCK);
    next(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) {
    static SWIFT void (*next)(SELF);
    if (!next) next = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(self);
    next(self);
}
