internal import ArgumentParser
internal import BSON
internal import Check
internal import Checking
internal import Concurrency
internal import JobState
internal import Scanning
internal import ServerSchema

/// A setting that `shipshape.yml` or a `SHIPSHAPE_…` variable can set.
///
/// A few settings also have an option: its value, if given, comes first, and the command that has it decides so.
struct Setting<Value: Sendable>: AnySetting {
    let name: String
    let kind: SettingKind
    let meaning: String
    let isSecret: Bool
    let fallbackText: String?
    /// The value if nothing sets the setting.
    let fallback: Value
    private let reading: @Sendable (String) throws -> Value

    /// Creates a setting.
    /// - Parameters:
    ///   - fallbackText: the default as `doctor --settings` shows it; `nil` for none.
    ///   - reading: returns the value that a text means. It throws a `ValidationError` that completes the sentence
    ///     "NAME: …" for a text that is no value of the setting.
    init(
        _ name: String, kind: SettingKind = .text, _ meaning: String, default fallback: Value,
        shown fallbackText: String? = nil, isSecret: Bool = false,
        reading: @escaping @Sendable (String) throws -> Value
    ) {
        (self.name, self.kind, self.meaning, self.isSecret) = (name, kind, meaning, isSecret)
        (self.fallback, self.fallbackText, self.reading) = (fallback, fallbackText, reading)
    }

    func value(of text: String) throws -> any Sendable { try reading(text) }
}

/// The type of a setting's value, for the JSON Schema of the configuration.
enum SettingKind: Sendable {
    case text, count, flag
}

protocol AnySetting: Sendable {
    /// The key in `shipshape.yml`.
    var name: String { get }
    var kind: SettingKind { get }
    var meaning: String { get }
    /// Whether the value may contain a password.
    var isSecret: Bool { get }
    /// The default, as a text; `nil` if there is none.
    var fallbackText: String? { get }

    /// Returns the value that a text means.
    /// - Throws: `ValidationError` for a text that is no value of the setting.
    func value(of text: String) throws -> any Sendable
}

extension AnySetting {
    var variable: String { "SHIPSHAPE_\(name.uppercased().replacing("-", with: "_"))" }
}

enum Known {
    static let uri = Setting<String?>(
        "uri", "the connection string, better without a password, or ${NAME} for the variable that holds it",
        isSecret: true)
    static let username = Setting<String?>("username", "the user to log in as")
    static let passwordFile = Setting<String?>("password-file", "a file whose first line is the user's password")
    static let database = Setting<String?>(
        "database", "the database of a schema that names only collections, and of a check without a schema"
    ) { text in
        guard Namespace("\(text).a")?.database == text else {
            throw ValidationError("\(text.quotedAsJSON) cannot be the name of a database")
        }
        return text
    }
    static let stateDatabase = Setting(
        "state-database", "the database that holds the state of jobs", default: "shipshape", shown: "shipshape"
    ) { text in
        if let reason = StateDatabaseName.refusal(of: text) {
            throw ValidationError("\"\(text)\" cannot be the name of the state database: \(reason)")
        }
        return text
    }
    static let ledger = Setting<LedgerLocation?>(
        "ledger", "the ledger of unsynced documents, as db.collection, or none", default: nil
    ) { text in
        if text == "none" { return LedgerLocation.none }
        guard let namespace = Namespace(text) else {
            throw ValidationError("\"\(text)\" is neither none nor DATABASE.COLLECTION")
        }
        return .named(namespace)
    }
    static let appID = Setting<String?>("app-id", "the internal ID of the app whose ledger entries count")
    static let limit = Setting.count(
        "limit", "the count of unsynced documents at which sync stops", default: DeployVerdict.defaultLimit)
    static let maxFailing = Setting<FailingLimit?>(
        "max-failing", "how many documents may fail a check, or which share such as 0.1%", default: nil, shown: "0"
    ) { text in
        guard let limit = FailingLimit(text) else {
            throw ValidationError("\"\(text)\" is neither a number of documents nor a share such as 0.1%")
        }
        return limit
    }
    static let failOnAnomaly = Setting.flag(
        "fail-on-anomaly",
        "whether a finding with more than three times its usual number of documents fails a check with --history")
    static let exceptions = Setting<String?>(
        "exceptions", "the file of accepted findings, or none; \(ExceptionsFile.standardName) if it is present")
    static let owner = Setting<String?>(
        "owner", "the person or team that answers for findings that --accept accepts; the login name")
    static let engine = Setting<EngineSettings?>(
        "engine", "the sync engine that serves the documents, as --engine takes it", default: nil
    ) { try EngineSettings(parsing: $0) }
    static let columns = Setting<String?>(
        "columns", "a YAML file with the columns of the clients' PowerSync schema")
    static let engineModel = Setting<String?>("engine-model", "the objectbox-model.json of the ObjectBox clients")
    static let mixedCollections = Setting.switched(
        "mixed-collections", "whether mixed values may be arrays and objects: off for apps made before 2024-05-28",
        default: true)
    static let nullTypes = Setting<Bool?>(
        "null-types", "the app's null-type switch, on or off, by which null in optional fields is checked", default: nil
    ) { try Setting<Bool>.isOn($0) }
    static let includeAsymmetric = Setting.flag(
        "include-asymmetric", "whether collections that clients only write to count in the verdict")
    static let schemaVersioning = Setting.flag(
        "schema-versioning",
        "whether the app deploys schema versions, which makes some breaking changes versioned ones")
    static let threads = Setting(
        "threads", kind: .count, "how many parts of a collection to read at the same time, 1 to 64", default: 2,
        shown: "2"
    ) { text in
        guard let count = Int(text), (1...64).contains(count) else { throw ValidationError("it must be from 1 to 64") }
        return count
    }
    static let rate = Setting<Int?>(
        "rate", kind: .count, "the most documents to read per second, over all threads", default: nil
    ) { try Setting<Int>.number($0) }
    static let prefilter = Setting.flag(
        "prefilter", "whether the server leaves out documents that a filter proves good; for slow links")
    static let keepFailures = Setting.count(
        "keep-failures", "how many days a collection of --failures keeps the documents of a run", default: 30)
    static let leaseTTL = Setting.duration(
        "lease-ttl", "how long a runner's lease lasts after each renewal, 1s to 1h", default: .seconds(30)
    ) { (.seconds(1)...(.seconds(3_600))).contains($0) ? nil : "it must be from 1s to 1h" }
    static let leaseWait = Setting.duration("lease-wait", "how long to wait for another runner", default: .zero)
    static let lockWait = Setting.duration(
        "lock-wait", "how long to wait in total for documents that the sync translator has locked",
        default: .seconds(10))
    static let stalledAfter = Setting.duration(
        "stalled-after",
        "how long a runner may go without a checkpoint, not counting waits, before it counts as stalled",
        default: .seconds(120))
    static let hookTimeout = Setting.duration(
        "hook-timeout", "how long a command of --on may take", default: .seconds(30)
    ) { $0 > .zero ? nil : "it must be more than nothing" }
    static let collmodUsername = Setting<String?>(
        "collmod-username", "the user that sets the validator in enforce, if it is another one")
    static let collmodPasswordFile = Setting<String?>(
        "collmod-password-file", "a file whose first line is the password of that user")
    static let logFormat = Setting.choice(
        "log-format", "the form of standard error: text or json", default: Log.Format.text)
    static let ids = Setting.choice("ids", "how to show _ids: show, hash or none", default: IDForm.show)

    /// All settings, in the order of `doctor --settings`.
    static let all: [any AnySetting] = [
        uri, username, passwordFile, database, stateDatabase, ledger, appID, limit, maxFailing, failOnAnomaly,
        exceptions, owner, engine, columns, engineModel, mixedCollections, nullTypes, includeAsymmetric,
        schemaVersioning, threads, rate, prefilter, keepFailures, leaseTTL, leaseWait, lockWait, stalledAfter,
        hookTimeout, collmodUsername, collmodPasswordFile, logFormat, ids,
    ]
}

// MARK: kinds of settings

extension Setting where Value == String? {
    fileprivate init(_ name: String, _ meaning: String, isSecret: Bool = false) {
        self.init(name, meaning, default: nil, isSecret: isSecret) { $0 }
    }

    /// Creates a setting whose value is a text of a certain form.
    fileprivate init(
        _ name: String, _ meaning: String, reading: @escaping @Sendable (String) throws -> String?
    ) {
        self.init(name, meaning, default: nil, reading: reading)
    }
}

extension Setting where Value == Int {
    /// Returns a setting whose value is a whole number of at least 1.
    fileprivate static func count(_ name: String, _ meaning: String, default fallback: Int) -> Self {
        Self(name, kind: .count, meaning, default: fallback, shown: "\(fallback)") { try number($0) }
    }

    fileprivate static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number >= 1 else { throw ValidationError("it must be a number of at least 1") }
        return number
    }
}

extension Setting where Value == Bool {
    /// Returns a setting that is false unless it is set to true.
    fileprivate static func flag(_ name: String, _ meaning: String) -> Self {
        Self(name, kind: .flag, meaning, default: false, shown: "false") { text in
            guard let value = ["true": true, "false": false][text] else {
                throw ValidationError("it must be true or false")
            }
            return value
        }
    }

    /// Returns a setting of the app that is on or off.
    fileprivate static func switched(_ name: String, _ meaning: String, default fallback: Bool) -> Self {
        Self(name, meaning, default: fallback, shown: fallback ? "on" : "off") { try isOn($0) }
    }

    fileprivate static func isOn(_ text: String) throws -> Bool {
        guard let value = ["on": true, "off": false][text] else { throw ValidationError("it must be on or off") }
        return value
    }
}

extension Setting where Value == Duration {
    /// Returns a setting whose value is a duration such as `30s`.
    /// - Parameter check: returns a sentence for a duration that is refused, or else `nil`.
    fileprivate static func duration(
        _ name: String, _ meaning: String, default fallback: Duration,
        check: @escaping @Sendable (Duration) -> String? = { _ in nil }
    ) -> Self {
        Self(name, meaning, default: fallback, shown: fallback.text) { text in
            guard let duration = Duration(text: text) else {
                throw ValidationError("\"\(text)\" is no duration, such as 500ms, 30s or 2h")
            }
            if let refusal = check(duration) { throw ValidationError(refusal) }
            return duration
        }
    }
}

extension Setting where Value: RawRepresentable<String> & CaseIterable {
    fileprivate static func choice(_ name: String, _ meaning: String, default fallback: Value) -> Self {
        Self(name, meaning, default: fallback, shown: fallback.rawValue) { text in
            guard let value = Value(rawValue: text) else {
                let words = Value.allCases.map(\.rawValue)
                let hint = Spelling.hint(for: text, among: words).map { " (\($0))" } ?? ""
                throw ValidationError("\"\(text)\" is none of \(words.joined(separator: ", "))\(hint)")
            }
            return value
        }
    }
}
