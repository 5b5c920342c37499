internal import ArgumentParser
internal import BSON
internal import Check
internal import Checking
internal import Concurrency
internal import Files
internal import Glibc
internal import JobReports
internal import JobState
internal import LocatedYAML
internal import Mongo
internal import Planning
internal import Privileges
internal import Reporting
internal import Scanning
internal import SchemaChange
internal import ServerSchema
internal import Watching

/// The exit codes, and the only mapping from errors to exit codes.
///
/// The argument parser's own default for an unknown error is 1, which here means findings.
enum ExitStatus: Int32, Error {
    case findings = 1
    case usage = 64
    case badInput = 65
    case unavailable = 69
    case bug = 70
    case cannotWrite = 73
    case stopped = 75
    case held = 76
    case notPermitted = 77
    case badConfiguration = 78

    /// The name of the exit code, as results for programs show it.
    var word: String {
        switch self {
        case .findings: "findings"
        case .usage: "usage"
        case .badInput: "bad_input"
        case .unavailable: "unavailable"
        case .bug: "bug"
        case .cannotWrite: "cannot_write"
        case .stopped: "stopped"
        case .held: "held"
        case .notPermitted: "not_permitted"
        case .badConfiguration: "bad_configuration"
        }
    }

    /// Whether another run may succeed even if the operator changes nothing.
    var isPassing: Bool { [.unavailable, .stopped, .held].contains(self) }

    /// Creates the exit code for the outcome of a job; `nil` for code 0, without a stop and without findings.
    init?(of report: BackfillReport) {
        guard report.outcome.stop == nil else {
            self = .stopped
            return
        }
        guard report.hasFindings else { return nil }
        self = .findings
    }

    /// Creates the exit code for an error that a command threw.
    init(for error: any Error) {
        switch error {
        case let status as ExitStatus: self = status
        case is UsageError, is PlanError, is UnknownCode: self = .usage
        case let error as LocatedError where error.isConfiguration: self = .badConfiguration
        case let error as RenameError: self = error.location == nil ? .usage : .badConfiguration
        case let error as SchemaError where error.code == .databaseUnknown: self = .usage
        case is SchemaError, is MergeError, is LocatedError, is DumpError, is SourceError, is BSONError, is InputError:
            self = .badInput
        case let error as MongoError: self = Self(for: error)
        case let error as RunError: self = Self(for: error)
        case is LedgerUnreadable, is MissingPrivileges: self = .notPermitted
        case is OutputError, is TemporaryFileError: self = .cannotWrite
        case is WatchError, is PasswordFileError, is LimitError: self = .badConfiguration
        case is ReplacedError, is StopAsked, is ReadingStopped: self = .stopped
        default: self = .bug
        }
    }

    private init(for error: MongoError) {
        if error.isAuthentication || error.isAuthorization {
            self = .notPermitted
        } else if error.isOverload || error.code == .outOfDiskSpace || error.isInterruption && Interruption.isRaised {
            self = .stopped
        } else if error.isInterruption {
            self = .unavailable
        } else if error.isFieldWithoutName || error.isName {
            self = .badInput
        } else if error.isConfiguration {
            self = .badConfiguration
        } else {
            self =
                Self.ours.contains(error.code.rawValue) || error.code.rawValue > 10_000 && !error.isTransient
                ? .bug : .unavailable
        }
    }

    /// The server's codes for a command that this program made wrongly: BadValue, FailedToParse, TypeMismatch,
    /// InvalidOptions and CommandNotFound.
    ///
    /// A code above 10,000 is an assertion of the server, and also means a wrong command, unless the error is
    /// transient. Any other code that ``init(for:)`` does not recognize means that the deployment could not run the
    /// command.
    private static let ours: Set<Int> = [2, 9, 14, 59, 72]

    private init(for error: RunError) {
        switch error.kind {
        case .bindingChanged, .unknownJob, .unknownCollection, .unsupportedCollection, .checkpointUnreadable,
            .notIdempotent, .schemaMismatch, .undoRefused:
            self = .badInput
        case .notDone: self = .usage
        case .leaseHeld, .leaseLost: self = .held
        case .stopped, .unconfirmed, .paused, .notDeployed, .journalFull: self = .stopped
        case .exceedsHeadroom, .refusedByData: self = .findings
        case .lookupUnreadable: self = .notPermitted
        case .noTransactions: self = .badConfiguration
        }
    }

    static func code(for error: any Error) -> Int32 {
        let parsed = Shipshape.exitCode(for: error)
        // The argument parser returns 1 for an error that it does not know, so its code is used only for its own
        // errors.
        let isParsers = parsed == .validationFailure || parsed == .success || error is ExitCode
        return isParsers ? parsed.rawValue : ExitStatus(for: error).rawValue
    }

    /// Shows an error and ends the process with its exit code.
    static func end(with error: any Error) -> Never {
        if let status = error as? ExitStatus { leave(status.rawValue) }
        let parsed = Shipshape.exitCode(for: error)
        // The argument parser shows the help, the version, and errors of usage. For any other error, it would exit with
        // code 1.
        if parsed == .validationFailure {
            if Console.speaksJSON { fail(ConnectionStringMask.mask(Shipshape.message(for: error)), .usage) }
            // Every error of the program has the same prefix.
            let text = ConnectionStringMask.mask(Shipshape.fullMessage(for: error)).replacing(
                "Error: ", with: "shipshape: ", maxReplacements: 1)
            // The text may quote an argument anywhere. If an argument has characters that must be escaped, the whole
            // text is therefore escaped, including its line breaks.
            let isPlain = CommandLine.arguments.allSatisfy { $0 == $0.printable }
            Console.error(isPlain ? text : text.printable)
            leave(parsed.rawValue)
        }
        if parsed == .success || error is ExitCode { Shipshape.exit(withError: error) }
        let all = [error] + ((error as? SchemaError)?.others ?? [])
        let shown = all.prefix(SchemaError.mostShown)
        let rest = all.count > shown.count ? ["and \(all.count - shown.count) more errors"] : []
        let status = ExitStatus(for: error)
        if Console.speaksJSON { fail((shown.map(message) + rest).joined(separator: "; "), status) }
        for other in shown { Console.failure(message(for: other), status, at: ErrorPlace(of: other)) }
        for line in rest { Console.failure(line, status) }
        leave(status.rawValue)
    }

    /// Returns the text of an error with its remedy, on one line and without secrets.
    static func message(for error: any Error) -> String {
        let bug = ExitStatus(for: error) == .bug ? "internal error: " : ""
        let text = ConnectionStringMask.mask("\(bug)\(error)\(remedy(for: error))").printable
        return text.utf8.count <= longestMessage ? text : text.prefix(longestMessage) + "…"
    }

    private static let longestMessage = 2_000

    /// Shows an error and ends the process.
    private static func fail(_ message: String, _ status: ExitStatus) -> Never {
        Console.failure(message, status)
        leave(status.rawValue)
    }

    /// Ends the process without the exit handlers of libraries.
    ///
    /// The handlers free memory that is still used by the threads which watch servers and close connections.
    static func leave(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}

extension ExitStatus {
    /// Returns the remedy for a ``MongoError``, whose text has none; empty for other errors, and if none is known.
    private static func remedy(for error: any Error) -> String {
        guard let error = error as? MongoError else { return "" }
        if error.code == .passwordMissing {
            return " (set SHIPSHAPE_PASSWORD or password-file, or run this at a terminal, which asks)"
        }
        if error.code == .keyPasswordMissing {
            return " (set SHIPSHAPE_TLS_KEY_PASSWORD, or run this at a terminal, which asks)"
        }
        if error.isAuthentication {
            return " (check the user, SHIPSHAPE_PASSWORD, and authSource in the connection string)"
        }
        if error.isAuthorization {
            guard let missing = error.missingPrivilege else { return " (grant the user what is missing)" }
            return " (grant the user \(missing.actions.joined(separator: ", ")) on \(missing.resource))"
        }
        if error.isFieldWithoutName {
            return " (an _id in the collection is an object with a nameless field, which the driver refuses: find it "
                + "by { _id: { $type: \"object\" } } and give that document another _id)"
        }
        if error.code == .outOfDiskSpace { return " (free some room on the deployment; then run it again)" }
        if error.isName {
            return " (the server refuses the name of a database or a collection: two databases cannot differ in upper "
                + "and lower case only)"
        }
        if error.isInterruption, Interruption.isRaised { return " (a signal asked to stop; run it again)" }
        if error.isOverload { return " (the server refuses commands because of its load: run it again later)" }
        if error.isTimeLimit {
            return
                " (a time limit ended the command: the deployment's for all commands, or shipshape's own for short "
                + "ones; try again when the servers are less busy)"
        }
        if error.isUntrusted {
            return
                " (name the certificate authorities to trust with tlsCAFile in the connection string, "
                + "and use an address that is in the "
                + "certificate)"
        }
        if error.isOfConnection {
            return " (check that the server and the network to it work, for example by shipshape doctor; then run this "
                + "again)"
        }
        if error.isServerSelection {
            return " (check the address, and that the deployment runs"
                + (error.isHungUp
                    ? "; the server may require tls=true in the connection string, "
                        + "or a client certificate that it knows)"
                    : ")")
        }
        return ""
    }
}
