internal import CMongoC
internal import Synchronization

/// Where libmongoc's own log lines go: nowhere, until a sink is set.
///
/// The lines are the driver's, in English, and not for results: a program may show them when asked to be verbose.
package enum DriverLog {
    /// How much a line matters.
    package enum Level: Int, Sendable, Comparable {
        /// Something failed.
        case error
        /// Something failed that may have harmed the process.
        case critical
        /// Something is odd.
        case warning
        /// Something is worth saying.
        case message
        /// Something happened.
        case info
        /// For the driver's developers.
        case debug
        /// Every call.
        case trace

        /// By importance, the gravest first.
        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// Takes one line: its level, the part of the driver that wrote it, and its text.
    ///
    /// It is called on any thread, the driver's monitoring threads among them.
    package typealias Sink = @Sendable (_ level: Level, _ domain: String, _ message: String) -> Void

    /// Sends the lines that follow to `sink`; `nil` drops them again.
    package static func setSink(_ sink: Sink?) { current.withLock { $0 = sink } }

    /// The corresponding C function is `mongoc_log_set_handler`.
    static func install() {
        let handler: mongoc_log_func_t = { level, domain, message, _ in
            unsafe receive(level: level, domain: domain, message: message)
        }
        unsafe mongoc_log_set_handler(handler, nil)
    }
}

private let current = Mutex<DriverLog.Sink?>(nil)

private func receive(level: mongoc_log_level_t, domain: UnsafePointer<CChar>?, message: UnsafePointer<CChar>?) {
    guard let sink = current.withLock({ $0 }) else { return }
    let domain = unsafe domain.map { unsafe String(cString: $0) } ?? ""
    let text = unsafe message.map { unsafe String(cString: $0) } ?? ""
    sink(DriverLog.Level(rawValue: Int(level.rawValue)) ?? .message, domain, Redaction.serverMessage(text))
}
