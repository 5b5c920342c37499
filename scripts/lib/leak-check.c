// To be preloaded: searches for leaks when the program ends by _exit, which the sanitizer does not notice.
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

// Defined only in a program that is built with AddressSanitizer.
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

void _exit(int status) {
    if (__lsan_do_recoverable_leak_check) {
        fprintf(stderr, "leak-check: %zu bytes in use\n", __sanitizer_get_current_allocated_bytes());
        __lsan_do_recoverable_leak_check();
    }
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
