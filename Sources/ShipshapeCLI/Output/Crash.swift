internal import Glibc

/// What a crash leaves behind.
enum Crash {
    /// Takes the signals of a crash from the Swift runtime: the process just ends.
    ///
    /// The runtime's report holds registers and memory, and so may hold passwords and documents. Whoever sets
    /// `SWIFT_BACKTRACE` asks for it.
    static func printsNoMemory() {
        guard unsafe getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { _ = signal(number, SIG_DFL) }
    }
}
