package import BSON
package import JobState

/// An event of a run, as a hook reads it: counts and words, but no documents.
package struct HookEvent: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case start, finding, wait, stop, success
    }

    private static var schemaVersion: Int { 1 }
    /// The maximum length of a message in characters; the whole JSON must fit into the pipe to the hook.
    private static var longestMessage: Int { 500 }

    package let kind: Kind
    private let command, name: String
    private let time: ServerTime
    private let message: String?
    private let code: Int?
    private let waitReasons: [WaitReason]

    /// Creates an event of a run.
    /// - Parameters:
    ///   - name: the name of the schema or of the job.
    ///   - message: the message, in one line.
    ///   - code: the exit code, if the run ends.
    ///   - waitReasons: the reasons why the run waits.
    package init(
        _ kind: Kind, command: String, name: String, at time: ServerTime, message: String? = nil, code: Int? = nil,
        waitReasons: [WaitReason] = []
    ) {
        (self.kind, self.command, self.name, self.time) = (kind, command, name, time)
        self.message = message.map { String($0.printable.prefix(Self.longestMessage)) }
        (self.code, self.waitReasons) = (code, waitReasons)
    }

    /// The JSON object that a hook reads from standard input.
    package var json: String {
        let event: ReportValue = [
            "event": kind.rawValue, "name": name, "at": time.iso8601, "message": message, "exit_code": code,
            "waiting_for": waitReasons.map {
                ["reason": $0.reason.rawValue, "metric": $0.metric, "value": $0.value, "limit": $0.limit] as ReportValue
            },
        ]
        return (JSONReport.head(command, version: Self.schemaVersion) + event).line + "\n"
    }

    /// The values of the event as environment variables, without the time and the reasons for waiting.
    package var variables: [String: String] {
        [
            "SHIPSHAPE_EVENT": kind.rawValue, "SHIPSHAPE_COMMAND": command, "SHIPSHAPE_NAME": name,
            "SHIPSHAPE_MESSAGE": message ?? "", "SHIPSHAPE_EXIT_CODE": code.map { "\($0)" } ?? "",
        ]
    }
}
