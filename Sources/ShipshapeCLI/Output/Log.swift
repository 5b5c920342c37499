internal import ArgumentParser
internal import BSON
internal import Foundation
internal import Logging
internal import Synchronization

/// The log of a command on standard error: lines with the time and the job, for a person or as JSON.
enum Log {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    private static let chosen = Mutex(Format.text)

    /// The format of the log's lines in this run.
    static var format: Format {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue } }
    }

    private static let bootstrapped: Void = LoggingSystem.bootstrap { LineHandler(label: $0) }

    /// Returns a logger that writes the name of a job, or another title such as `watch`, in each of its lines.
    static func logger(of job: String) -> Logger {
        _ = bootstrapped
        return Logger(label: job)
    }

    /// Returns a log message as one line of JSON.
    static func record(_ level: Logger.Level, job: String?, _ message: String) -> String {
        let members = [
            ("time", Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))),
            ("level", level.rawValue),
            ("job", job), ("message", message),
        ].compactMap { name, value in value.map { "\(name.quotedAsJSON):\($0.quotedAsJSON)" } }
        return "{\(members.joined(separator: ","))}"
    }

    /// Returns the log level of a message, which depends on whether the message begins with `shipshape: warning: `,
    /// with `shipshape: `, or with neither.
    static func level(of line: String) -> Logger.Level {
        if line.hasPrefix("shipshape: warning: ") { return .warning }
        return line.hasPrefix("shipshape: ") ? .error : .info
    }
}

/// Writes log messages to standard error, in the format of this run.
private struct LineHandler: LogHandler {
    let label: String
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let message = event.message.description
        switch Log.format {
        case .json: Console.write(Log.record(event.level, job: label, message) + "\n")
        case .text:
            let level = event.level >= .warning ? "\(event.level.rawValue): " : ""
            Console.write("\(Date().formatted(.iso8601)) \(label): \(level)\(message)".printable + "\n")
        }
    }
}
