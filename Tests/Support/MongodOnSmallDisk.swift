import Glibc

/// A replica set of one member whose data is on a small disk.
///
/// If the server ends because the disk is full, it starts again after the disk has room. The disk is in memory, in the
/// mount namespace of the server's process, and is removed with the process. Only root can create such a disk.
package final class MongodOnSmallDisk: Sendable {
    /// The replica set whose data is on the small disk.
    package let mongod: Mongod
    private let ballast: String

    private init(mongod: Mongod, ballast: String) { (self.mongod, self.ballast) = (mongod, ballast) }

    /// Whether the current user can mount a small disk.
    package static let isPossible = geteuid() == 0 && isExecutable("/usr/bin/unshare")

    /// The script that mounts the disk on the data folder, and then runs the server's command.
    ///
    /// The first argument of the script is the folder, and the other arguments are the command.
    private static let script = """
        ulimit -c 0
        data=$1; shift
        mount -t tmpfs -o size=64m tmpfs "$data" || exit
        while :; do
            "$@"
            while [ -e "$data/ballast" ]; do sleep 0.1; done
        done
        """

    /// Starts the server, and waits until it accepts writes.
    package static func start() async throws -> MongodOnSmallDisk {
        // The disk is small, so the server must not allocate space for its journal in advance.
        let more = ["--wiredTigerEngineConfigString", "log=(file_max=1MB,prealloc=false)"]
        let disk = ["/usr/bin/unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script, "disk"]
        let (process, host, command) = try await Mongod.startProcess(.replicaSet, more) { command, folder in
            disk + [folder] + command
        }
        do {
            let mongod = try await Mongod.ready(.replicaSet, host: host, process: process)
            let root = "/proc/\(try process.childID())/root"
            return MongodOnSmallDisk(mongod: mongod, ballast: "\(root)\(command[disk.count])/ballast")
        } catch {
            process.stop()
            throw error
        }
    }

    /// Fills the disk completely.
    package func fill() throws {
        let file = unsafe open(ballast, O_WRONLY | O_CREAT, 0o600)
        guard file >= 0 else { throw TestSupportError("\(ballast): errno \(errno)") }
        defer { close(file) }
        let bytes = [UInt8](repeating: 0, count: 1 << 16)
        while unsafe write(file, bytes, bytes.count) > 0 {}
        guard errno == ENOSPC else { throw TestSupportError("\(ballast): errno \(errno)") }
    }

    /// Waits until the server has ended because the disk is full.
    package func waitForEnd() async throws {
        guard let port = mongod.host.split(separator: ":").last.flatMap({ UInt16($0) }) else { return }
        try await waitUntil("mongod has ended") { !LocalPort(number: port).isOpen }
    }

    /// Deletes the file that fills the disk, and waits until the server accepts writes again.
    package func free() async throws {
        guard unsafe unlink(ballast) == 0 else { throw TestSupportError("\(ballast): errno \(errno)") }
        try await waitUntil("mongod is there again") { (try? await mongod.waitForPrimary()) != nil }
    }
}
