internal import Concurrency
internal import Glibc

/// Checks the system's limits on the process, because at a limit the Swift runtime ends it without a message.
enum ProcessLimits {
    /// The minimum number of files and sockets that a command has to be able to open at once.
    private static let files: rlim_t = 64
    /// The number of open files to ask for, if the system allows it.
    private static let wantedFiles: rlim_t = 4_096
    /// The minimum address space, in bytes; threads reserve far more of it than they use.
    private static let addressSpace: rlim_t = 1 << 30
    /// The smallest and the usual size of all threads' stacks, in bytes: the readers of schemas call themselves once
    /// for each level.
    private static let stack: (least: rlim_t, usual: rlim_t) = (2 << 20, 8 << 20)
    /// The number of threads that a command has to be able to run at once.
    private static let threads = 16

    /// Checks the system's limits on the process, and raises the limit on open files as far as the process is allowed
    /// to.
    /// - Throws: ``LimitError`` if a limit is too low.
    static func check() throws(LimitError) {
        try fixStack()
        let open = limit(RLIMIT_NOFILE)
        var raised = open
        raised.rlim_cur = max(open.rlim_cur, min(open.rlim_max, wantedFiles))
        if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) != 0 { raised = open }
        guard raised.rlim_cur >= files else {
            throw LimitError(
                "only \(raised.rlim_cur) files may be open at once, but shipshape needs \(files): raise ulimit -n")
        }
        let space = limit(RLIMIT_AS).rlim_cur
        guard space >= addressSpace else {
            throw LimitError(
                "the address space is limited to \(space >> 20) MiB, but shipshape needs \(addressSpace >> 20) MiB: "
                    + "raise ulimit -v")
        }
        let failure = PosixThread.failureOfStarting(threads)
        guard failure == 0 else { throw LimitError(noThreads(failure)) }
        PosixThread.onExhaustion { failure in
            Console.failure(noThreads(failure) + "; run it again", .stopped)
            ExitStatus.leave(ExitStatus.stopped.rawValue)
        }
    }

    /// Starts the program again with the usual stack, unless it has that already.
    ///
    /// The C library reads the limit when the program starts, and gives new threads a small stack if there is no limit.
    private static func fixStack() throws(LimitError) {
        var limit = limit(RLIMIT_STACK)
        let wanted = min(stack.usual, limit.rlim_max)
        guard limit.rlim_cur < wanted || limit.rlim_cur == .max || wanted < stack.least else { return }
        limit.rlim_cur = wanted
        if wanted >= stack.least, unsafe setrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0 {
            _ = unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        }
        throw LimitError("shipshape needs a stack of \(stack.least >> 20) MiB: raise ulimit -s")
    }

    private static func limit(_ resource: __rlimit_resource) -> rlimit {
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        return limit
    }

    private static func noThreads(_ failure: Int32) -> String {
        "the system starts no more threads (\(unsafe String(cString: strerror(failure)))): raise ulimit -u, ulimit -v "
            + "or the container's limits on processes and memory"
    }
}

/// An error for a limit of the system under which the program cannot work.
struct LimitError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Keeps documents and passwords out of the report of a crash.
enum Crash {
    /// Removes the Swift runtime's handlers for the signals of a crash, and lets the system write no core file.
    ///
    /// Both would hold memory, and so may hold passwords and documents. If a user asks for the runtime's report by
    /// setting `SWIFT_BACKTRACE`, the process keeps both.
    static func printsNoMemory() {
        guard unsafe getenv("SWIFT_BACKTRACE") == nil else { return }
        var none = rlimit()
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { _ = signal(number, SIG_DFL) }
    }
}
