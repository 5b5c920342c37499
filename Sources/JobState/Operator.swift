import Glibc

/// The person who runs this program, as logs name them.
package enum Operator {
    /// `user@host`.
    package static let current: String = {
        let name = unsafe getpwuid(geteuid()).map { unsafe String(cString: $0.pointee.pw_name) }
        return "\(name ?? "uid \(geteuid())")@\(RunnerIdentity.hostName)"
    }()
}
