#include <signal.h>

// libmongoc's constructor makes a file in memory before main begins. Where no file may grow that far (`ulimit -f`), the
// system sends SIGXFSZ, which would end the process without a word. Ignored, the write fails, and libmongoc does
// without the file. C, because only the functions of this section run before the constructors of libraries.
static void ignore_file_size_signal(void) { signal(SIGXFSZ, SIG_IGN); }

__attribute__((section(".preinit_array"), used)) static void (*const shipshape_before_libraries)(void) =
    ignore_file_size_signal;
