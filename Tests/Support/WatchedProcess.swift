import Glibc

/// A child process that always ends with this process, and whose folder is removed after its end.
///
/// A shell waits on a pipe that only this process holds open. When `stop()` is called or this process ends, the pipe
/// closes. The shell then kills the child and removes the folder.
@safe
final class WatchedProcess: Sendable {
    private static let script = """
        folder=$1; shift
        "$@" </dev/null >"$folder/output" 2>&1 &
        child=$!
        echo $child >"$folder/pid"
        cat >/dev/null
        kill -9 $child 2>/dev/null
        wait $child
        rm -rf "$folder"
        """
    /// The flag `POSIX_SPAWN_SETSID` of glibc, with which an interrupt from the terminal cannot end the shell.
    private static let newSession: Int16 = 0x80

    private let shell: pid_t
    private let lifeline: Int32
    private let folder: String

    private init(shell: pid_t, lifeline: Int32, folder: String) {
        self.shell = shell
        self.lifeline = lifeline
        self.folder = folder
    }

    /// Starts a command; its output goes to the file `folder/output`.
    ///
    /// The folder is removed when `stop()` is called or this process ends.
    static func start(_ command: [String], folder: String) throws -> WatchedProcess {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw TestSupportError("pipe: errno \(errno)") }
        defer { close(ends[0]) }
        // Only this process may hold the writing end of the pipe open. Other processes do not inherit it, and the child
        // closes it.
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        let arguments = ["/bin/sh", "-c", script, "watch", folder] + command
        let shell = try spawn(arguments, input: ends[0])
        return WatchedProcess(shell: shell, lifeline: ends[1], folder: folder)
    }

    /// Returns the process ID of the child, which the shell has written to a file.
    func childID() throws -> pid_t {
        let text = try readText("\(folder)/pid")
        guard let id = pid_t(text.prefix { $0.isNumber }) else { throw TestSupportError("no process id in \(folder)") }
        return id
    }

    /// Kills the child as `kill -9` does; the child's folder stays until `stop()` is called or this process ends.
    func kill() throws { _ = Glibc.kill(try childID(), SIGKILL) }

    /// Sends the child a signal, such as `SIGSTOP`.
    func send(_ signal: Int32) throws { _ = Glibc.kill(try childID(), signal) }

    /// Kills the child, removes its folder, and waits until that is done.
    func stop() {
        close(lifeline)
        var status: Int32 = 0
        while unsafe waitpid(shell, &status, 0) == -1 && errno == EINTR {}
    }

    private static func spawn(_ arguments: [String], input: Int32) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        for other in 3..<Int32(1_024) { unsafe posix_spawn_file_actions_addclose(&actions, other) }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setflags(&attributes, newSession)
        let list = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe list.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let status = unsafe posix_spawn(&process, arguments[0], &actions, &attributes, list, environ)
        guard status == 0 else { throw TestSupportError("posix_spawn: errno \(status)") }
        return process
    }
}
