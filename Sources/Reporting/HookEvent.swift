package import BSON
package import JobState
import Running

/// What happened in a run, as its hooks are told: counts and words, no documents.
package struct HookEvent: Sendable {
    /// Which.
    package enum Kind: String, Sendable, CaseIterable {
        case start, finding, wait, stop, success
    }

    /// The version of the JSON's shape.
    private static var schemaVersion: Int { 1 }
    /// The most characters of a message: a hook is told in one piece.
    private static var longestMessage: Int { 500 }

    package let kind: Kind
    private let command, name: String
    private let time: ServerTime
    private let message: String?
    private let code: Int?
    private let holds: [Hold]

    /// - Parameters:
    ///   - name: the schema, or the job.
    ///   - message: what is to be said of it, in a line.
    ///   - code: the exit code, where the run ends.
    ///   - holds: what makes it wait.
    package init(
        _ kind: Kind, command: String, name: String, at time: ServerTime, message: String? = nil, code: Int? = nil,
        holds: [Hold] = []
    ) {
        (self.kind, self.command, self.name, self.time) = (kind, command, name, time)
        self.message = message.map { String($0.printable.prefix(Self.longestMessage)) }
        (self.code, self.holds) = (code, holds)
    }

    /// The object that a hook reads from standard input.
    package var json: String {
        ReportValue.object(
            JSONReport.head(command, version: Self.schemaVersion) + [
                ("event", .string(kind.rawValue)), ("name", .string(name)), ("at", .string(time.iso8601)),
                ("message", message.map { .string($0) } ?? .null), ("exit_code", code.map { .integer($0) } ?? .null),
                (
                    "waiting_for",
                    .array(
                        holds.map { hold in
                            .object([
                                ("reason", .string(hold.reason.rawValue)), ("metric", .string(hold.metric)),
                                ("value", .string(hold.value)), ("limit", .string(hold.limit)),
                            ])
                        })
                ),
            ]
        ).line + "\n"
    }

    /// The same in a few environment variables.
    package var variables: [String: String] {
        [
            "SHIPSHAPE_EVENT": kind.rawValue, "SHIPSHAPE_COMMAND": command, "SHIPSHAPE_NAME": name,
            "SHIPSHAPE_MESSAGE": message ?? "", "SHIPSHAPE_EXIT_CODE": code.map { "\($0)" } ?? "",
        ]
    }
}
