internal import BSON
internal import Mongo
internal import Synchronization

/// Shows warnings about parts of a connection string that the driver ignores, and that it would only log.
enum DriverWarnings {
    private static let shown = Mutex<Set<String>>([])

    /// Shows, from this call on, one warning for each option, value or compressor that the driver does not know.
    static func show() {
        DriverLog.setSink { level, _, message in
            guard level == .warning, message.hasPrefix("Unsupported") else { return }
            guard shown.withLock({ $0.insert(message).inserted }) else { return }
            Console.error("shipshape: warning: \(message.printable): it is ignored (check the connection string)")
        }
    }
}
