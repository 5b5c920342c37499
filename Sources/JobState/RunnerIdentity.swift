package import BSON
import Glibc
import SystemPackage

/// The identity of a runner's process: enough to find out, on the same machine, whether the process is still alive.
package struct RunnerIdentity: Hashable, Sendable {
    /// A random ID that distinguishes this runner from all others.
    package let owner: ObjectID
    package let host: String
    /// The ID that the kernel gave to the current boot of the machine.
    package let bootID: String
    /// The process id, which identifies a process only within ``processNamespace``.
    package let process: Int
    /// When the process started, in clock ticks since boot; a later process with the same id has another value.
    package let processStart: Int
    /// The kernel's name for the set of processes that the process can see, such as those of one container; empty if it
    /// is unknown.
    package let processNamespace: String

    /// Returns the identity of this process, with a new random ``owner``.
    package static func current() -> RunnerIdentity {
        let process = Int(getpid())
        return RunnerIdentity(
            owner: ObjectID(high: .random(in: .min ... .max), low: .random(in: .min ... .max)), host: hostName,
            bootID: ProcFile.text("/proc/sys/kernel/random/boot_id") ?? "", process: process,
            processStart: ProcFile.startTime(of: process) ?? 0, processNamespace: ProcFile.processNamespace ?? "")
    }

    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        _ = unsafe gethostname(&name, name.count - 1)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether `other` ran on this machine and has certainly ended.
    ///
    /// This is certain if the machine was booted since, if no process has its id, or if a later process has the id. In
    /// all other cases, the result is `false`. A wrong `true` cannot give two runners the lease of a job, because the
    /// next run waits until the lease ends in any case. However, `shipshape enforce` does not wait for a runner that is
    /// known to have ended.
    package func knowsDead(_ other: RunnerIdentity) -> Bool {
        guard other.host == host, !bootID.isEmpty, !other.bootID.isEmpty else { return false }
        guard other.bootID == bootID else { return true }
        // Two containers can have the same host name. A process id identifies a process only within its own container.
        guard other.processNamespace == processNamespace else { return false }
        guard let start = ProcFile.startTime(of: other.process) else { return ProcFile.isFree(other.process) }
        return other.processStart != 0 && start != other.processStart
    }

    var document: BSONDocument {
        [
            "owner": .objectID(owner), "host": .string(host), "boot": .string(bootID), "process": .integer(process),
            "processStart": .integer(processStart), "processNamespace": .string(processNamespace),
        ]
    }
}

extension RunnerIdentity {
    init?(_ document: BSONDocument) {
        guard case .objectID(let owner)? = document["owner"], let host = document["host"]?.text,
            let boot = document["boot"]?.text, let process = document["process"]?.integer
        else { return nil }
        self.init(
            owner: owner, host: host, bootID: boot, process: process,
            processStart: document["processStart"]?.integer ?? 0,
            processNamespace: document["processNamespace"]?.text ?? "")
    }
}

/// The files in `/proc` that distinguish processes and boots.
enum ProcFile {
    /// The kernel's name for the namespace of process ids that this process belongs to; `nil` if it cannot be read.
    static var processNamespace: String? {
        var name = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink("/proc/self/ns/pid", &name, name.count)
        return count > 0 ? String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Whether the kernel reports that no process has this id; `false` if in doubt.
    static func isFree(_ process: Int) -> Bool {
        guard let process = pid_t(exactly: process), process > 0 else { return false }
        return kill(process, 0) != 0 && errno == ESRCH
    }

    /// Returns the first 4,096 bytes of the file as text, without white space at the end; `nil` if it cannot be opened.
    static func text(_ path: String) -> String? {
        guard let file = try? FileDescriptor.open(FilePath(path), .readOnly) else { return nil }
        defer { try? file.close() }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = (try? unsafe bytes.withUnsafeMutableBytes { try unsafe file.read(into: $0) }) ?? 0
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        return String(text.reversed().drop { $0.isWhitespace }.reversed())
    }

    /// Returns the start time of a process in clock ticks since boot; `nil` when it cannot be read.
    ///
    /// The start time is the 22nd field of `/proc/PID/stat`. The second field, the program's name, is in parentheses
    /// and may hold any characters, so fields are counted from the last closing parenthesis.
    static func startTime(of process: Int) -> Int? {
        guard let text = text("/proc/\(process)/stat"), let parenthesis = text.lastIndex(of: ")") else { return nil }
        let fields = text[parenthesis...].split(separator: " ")
        return fields.count > 20 ? Int(fields[20]) : nil
    }
}

/// The user who runs this program, under the name that the logs of jobs show.
package enum Operator {
    /// The operator, as `user@host`.
    package static let current: String = {
        let name = unsafe getpwuid(geteuid()).map { unsafe String(cString: $0.pointee.pw_name) }
        return "\(name ?? "uid \(geteuid())")@\(RunnerIdentity.hostName)"
    }()
}
