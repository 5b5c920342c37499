internal import BSON
internal import Mongo
internal import Synchronization

/// Warnings about parts of a connection string that the driver ignores, and only logs.
enum DriverWarnings {
    private static let told = Mutex<Set<String>>([])

    /// Shows each option, value or compressor that the driver does not know, once.
    static func show() {
        DriverLog.setSink { level, _, message in
            guard level == .warning, message.hasPrefix("Unsupported") else { return }
            guard told.withLock({ $0.insert(message).inserted }) else { return }
            Console.error("shipshape: warning: \(message.printable): it is ignored (check the connection string)")
        }
    }
}
