internal import CMongoC
internal import Synchronization

/// The destination of libmongoc's own log lines; they are dropped until a sink is set.
///
/// The driver's lines are in English. They are not results of the program, so it shows them only if the user asks.
package enum DriverLog {
    /// The importance of a line.
    package enum Level: Int, Sendable, Comparable {
        /// A failure.
        case error
        /// A failure that may have damaged the process.
        case critical
        /// An unusual condition.
        case warning
        /// A remarkable event.
        case message
        /// An ordinary event.
        case info
        /// Details for the driver's developers.
        case debug
        /// A trace of every call.
        case trace

        /// Orders from the most important lines (errors) to the least important (traces).
        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// Receives one line: its level, the part of the driver that wrote it, and its text.
    ///
    /// The sink is called on any thread, also on the driver's monitoring threads.
    package typealias Sink = @Sendable (_ level: Level, _ domain: String, _ message: String) -> Void

    /// Sends all later lines to `sink`; with `nil`, drops them.
    package static func setSink(_ sink: Sink?) { current.withLock { $0 = sink } }

    /// Sets the handler of the driver's log.
    ///
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
