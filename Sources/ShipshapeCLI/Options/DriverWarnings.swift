internal import BSON
internal import Mongo
internal import Synchronization

/// What the driver passes over in a connection string, and tells nobody but its log.
enum DriverWarnings {
    private static let told = Mutex<Set<String>>([])

    /// Shows an option, a value or a compressor that it does not know, once.
    static func show() {
        DriverLog.setSink { level, _, message in
            guard level == .warning, message.hasPrefix("Unsupported") else { return }
            guard told.withLock({ $0.insert(message).inserted }) else { return }
            Console.error("shipshape: warning: \(message.printable): it is passed over (check the connection string)")
        }
    }
}
